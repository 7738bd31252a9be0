"""Checks of what users pass: numbers and names, rows of examples. Each raises a ValueError that says what to change."""
