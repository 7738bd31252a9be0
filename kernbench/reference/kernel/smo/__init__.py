"""SMO in plain NumPy."""
