"""Stochastic solvers for ranges of ranks, in plain NumPy: the pseudo-code of Yao, Lin and Yang, line by line."""
