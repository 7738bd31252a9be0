"""Conjugate subgradient methods in plain NumPy."""
