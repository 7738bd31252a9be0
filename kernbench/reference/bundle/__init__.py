"""Cutting planes in plain NumPy."""
