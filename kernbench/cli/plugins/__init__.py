"""Solvers and experiments of the user's own: ``--plugin``, ``kernbench new``, ``kernbench check``."""
