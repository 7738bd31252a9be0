"""Problems of the solvers of ranges of ranks.

* :mod:`~kernbench.problems.ranking.ranked_problem` -- targets, weights, loss and range, checked;
* :mod:`~kernbench.problems.ranking.pools` -- batches without replacement, and the range as shares of their pools;
* :mod:`~kernbench.problems.ranking.criticality` -- the distance of a solution from a critical point.
"""
