"""Random features in plain NumPy, as their papers write them: draw by draw, matrices written down."""
