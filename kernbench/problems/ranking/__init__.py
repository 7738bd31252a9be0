"""Problems of the solvers of pairs and of ranges of ranks.

* :mod:`~kernbench.problems.ranking.pairwise_problem` -- labels, weights and loss, checked, and the pairs drawn;
* :mod:`~kernbench.problems.ranking.ranked_problem` -- targets, weights, loss and range, checked;
* :mod:`~kernbench.problems.ranking.sampling` -- what batches are drawn from, and default steps.
"""
