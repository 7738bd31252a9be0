"""Problems of the solvers of ranges of ranks.

* :mod:`~kernbench.problems.ranking.ranked_problem` -- targets, weights, loss and range, checked;
* :mod:`~kernbench.problems.ranking.pools` -- batches without replacement, and ranges as fractions of the total weight.
"""
