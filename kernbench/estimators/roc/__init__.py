"""Classifiers that rank the rows of two classes by the AUC, and what all models of a space of scores share."""
