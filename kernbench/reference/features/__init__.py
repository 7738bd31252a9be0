"""Feature maps in plain NumPy, as in their papers: explicit matrices, random features draw by draw."""
