"""Support vector classifiers."""
