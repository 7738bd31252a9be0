"""Losses: the hinge and what can be known of it exactly, and the water level, its slack-constrained sister.

* :mod:`~kernbench.losses.hinge_problem` -- the regularised problem that the kernel SVM solvers share, checked;
* :mod:`~kernbench.losses.hinge` -- best intercept, lower bounds of the optimum;
* :mod:`~kernbench.losses.water_level` -- the largest smallest margin that a volume of slack can buy;
* :mod:`~kernbench.losses.slack_budget` -- between regularisation and slack budget, direction and solution.
"""
