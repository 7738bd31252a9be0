"""Solvers of pairwise and ranked losses.

The ROC-SVM, alpha/2 ||f||^2 + mean over pairs of loss(f(x_i) - f(x_j)), i positive, j negative:

* ``bundle`` and ``newton``  certify their gap;  ``descent``  is the paper's (gradient and Adamax);
* ``closed_form``  for the squared loss.

Ranges of false positive rates, and of ranks:

* ``dca_exact``  L-BFGS, then DCA by cutting planes, on all pairs (``lbfgs_dca``), and ``criticality``, how far a point
  is from a critical one;
* ``svmpauc_tight``  cutting planes of a convex bound;  ``stochastic``  the methods that draw batches.

The risks are ``_problem`` (the mean over all pairs or drawn ones) and ``_ranked_risk`` (a range of ranks); the bundle
method is in ``solvers/bundle``. Each ``_name`` is the compiled core of the method ``name``.
"""
