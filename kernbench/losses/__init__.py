"""Losses of a margin and what can be known of them exactly; the water level, the hinge's slack-constrained sister.

* :mod:`~kernbench.losses.margin` -- hinge, squared hinge, logistic: value, slope, dual (``_margin.h``: in C);
* :mod:`~kernbench.losses.margin_problem` -- the regularised problem that the kernel SVM solvers share,
  checked;
* :mod:`~kernbench.losses.intercept` -- the best intercept of given decision values;
* :mod:`~kernbench.losses.duality` -- lower bounds of the optimum: certified gaps;
* :mod:`~kernbench.losses.water_level` -- the largest smallest margin that a volume of slack can buy;
* :mod:`~kernbench.losses.slack_budget` -- between regularisation and slack budget, direction and solution;
* :mod:`~kernbench.losses.pairwise` -- names of the losses of pairs.
"""
