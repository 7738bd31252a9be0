"""Solvers of alpha/2 ||f||^2 + mean over pairs of loss(1 - (f(x_i) - f(x_j))), i positive, j negative: the ROC-SVM.

Four of them: ``_bundle`` and ``newton`` with a certified gap, ``descent`` as the paper has it (gradient and
Adamax), and ``closed_form`` for the squared loss. What they share:

* ``_problem``  the loss over all pairs or drawn ones, checked;

and one floor below, with the solvers on explicit features:

* ``_preconditioner``  an approximate Hessian for few features, factorised;
* ``_cutting_planes``  the bundle method for any risk of scores (``_risk``), with its cuts and their lower
  bound (``_cuts``) and its small problems (``_simplex_qp``, ``_line_search``).
"""
