"""The online kernel methods in plain NumPy."""
