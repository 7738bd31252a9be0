"""Vectorised elementary functions, with run-time dispatch on the processor."""
