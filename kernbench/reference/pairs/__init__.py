"""Arithmetic over pairs in plain NumPy: losses of pairs and of ranges, areas under the ROC curve."""
