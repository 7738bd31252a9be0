"""Classifiers that rank the rows of two classes."""
