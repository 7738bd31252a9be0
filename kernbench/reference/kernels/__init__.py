"""Kernel values, rows and length scales in plain NumPy."""
