"""References of the solvers whose model is a kernel expansion f(x) = sum_i coef_i k(x_i, x) + b.

The problem they share, its dual bound and the water level are in :mod:`kernbench.losses`; ``selection.py`` finds
the water level once more, by the selection of the paper's Algorithm 2.
"""
