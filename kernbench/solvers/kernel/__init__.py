"""Solvers whose model is a kernel expansion f(x) = sum_i coef_i k(x_i, x) + b."""
