"""References of the solvers whose model is a kernel expansion f(x) = sum_i coef_i k(x_i, x) + b.

The problem they share, its dual bound and the water level by sorting are in :mod:`kernbench.problems` and
:mod:`kernbench.losses`; ``sbp/water.py`` finds the water level by selection, as the paper's Algorithm 2 does.
"""
