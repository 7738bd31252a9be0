"""Stochastic solvers for ranges of ranks: partial AUC, ranked losses, the min-max margin loss.

* ``_batches`` -- batches without replacement and the stochastic subgradients at their rows;
* ``_sbcd`` -- a run of stochastic block coordinate descent in coefficients and thresholds;
* ``_base`` -- draws, stages, the stopping rule, what is reported;
* ``_agd``, ``_dca``, ``_minibatch``, ``_pesg`` -- the methods.
"""
