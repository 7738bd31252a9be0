"""Estimators that choose their parameters by cross-validation on shared kernel rows."""
