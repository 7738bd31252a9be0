"""Models made of blocks of random features and their coefficients: see :mod:`kernbench.estimators` for a map."""
