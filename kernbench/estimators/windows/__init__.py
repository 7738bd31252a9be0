"""Models of a range of ranks or of false positive rates, and of the min-max margin loss of the AUC."""
