"""Solvers of alpha/2 ||f||^2 + mean over pairs of loss(1 - (f(x_i) - f(x_j))), i positive, j negative: the ROC-SVM.

Four of them: ``_bundle`` and ``_newton`` with a certified gap, ``_descent`` as the paper has it (gradient and Adamax),
and ``closed_form`` for the squared loss. What they share, from the bottom up:

* ``_problem``     the loss over all pairs or drawn ones, checked;
* ``_metric``      an approximate Hessian for few features, factorised;
* ``_simplex_qp``, ``_line_search``  the small problems of the bundle;
* ``_cuts``        its cuts, and the lower bound they give.
"""
