"""Stochastic solvers for ranges of ranks: partial AUC, ranked losses, the min-max margin loss.

* ``base`` -- draws, stages, the stopping rule, what is reported;
* ``ranged`` -- methods with runs of stochastic block coordinate descent in coefficients and thresholds;
* ``agd``, ``dca``, ``minibatch``, ``pesg`` -- the methods;
* ``_batches`` -- batches without replacement and the stochastic subgradients at their rows;
* ``_sbcd`` -- the core of ``ranged``; ``_minibatch`` and ``_pesg`` those of their namesakes.
"""
