"""Experiments of our own: primitives, and peers side by side."""
