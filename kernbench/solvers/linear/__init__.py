"""Solvers of alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>) on explicit features: linear support vector machines.

None of them has an intercept of its own: the estimator appends a constant column, as LIBLINEAR does.
"""
