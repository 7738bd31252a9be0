"""Solvers of alpha/2 ||f||^2 + mean over pairs of loss(1 - (f(x_i) - f(x_j))), i positive, j negative: the ROC-SVM.

What they share, from the bottom up:

* ``_design``      features (dense, CSR) or a kernel: scores of f, and back;
* ``_problem``     the loss over all pairs or drawn ones, checked;
* ``_metric``      an approximate Hessian for few features, factorised;
* ``_simplex_qp``, ``_line_search``  the small problems of the bundle.
"""
