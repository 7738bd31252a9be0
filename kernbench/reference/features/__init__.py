"""Feature maps in plain NumPy, as their papers write them: matrices written down, random features draw by draw."""
