"""One fit for every estimator: see :mod:`kernbench.estimators` for a map."""
