"""What both twins of a solver share: the problem they minimise, its certificates, and how examples are drawn.

* :mod:`~kernbench.problems.margin_problem`, :mod:`~kernbench.problems.linear_problem` -- the regularised problems of
  the kernel and linear SVM solvers, checked;
* :mod:`~kernbench.problems.intercept` -- the best intercept of given decision values;
* :mod:`~kernbench.problems.expansion` -- the best multiple and intercept of a direction, with its gap;
* :mod:`~kernbench.problems.water_level` -- the largest smallest margin for a given sum of slacks;
* :mod:`~kernbench.problems.slack_budget` -- conversions between the regularised problem and the slack-constrained one;
* :mod:`~kernbench.problems.parzen` -- when the Parzen classifier is the minimiser;
* :mod:`~kernbench.problems.draws` -- indices drawn in the same order by both twins;
* :mod:`~kernbench.problems.samples`, :mod:`~kernbench.problems.window` -- where a sampling method draws its examples
  from: rows of a kernel matrix, a window on a stream;
* :mod:`~kernbench.problems.pools` -- batches without replacement for the stochastic solvers of ranges of ranks;
* :mod:`~kernbench.problems.conjugate`, :mod:`~kernbench.problems.online` -- options of these methods, checked;
* :mod:`~kernbench.problems.block_constants`, :mod:`~kernbench.problems.feature_bounds` -- Lipschitz constants of blocks
  of features, and certified gaps of linear models.
"""
