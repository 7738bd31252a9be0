"""What both twins of a solver share: the problem they minimise, its certificates, and how examples are drawn.

* :mod:`~kernbench.problems.margin_problem`, :mod:`~kernbench.problems.linear_problem` -- the regularised problems of
  the kernel and linear SVM solvers, checked;
* :mod:`~kernbench.problems.intercept` -- the best intercept of given decision values;
* :mod:`~kernbench.problems.expansion` -- a direction in the objective: best multiple and intercept, gap;
* :mod:`~kernbench.problems.water_level` -- the largest smallest margin that a volume of slack can buy;
* :mod:`~kernbench.problems.slack_budget` -- between regularisation and slack budget, direction and solution;
* :mod:`~kernbench.problems.parzen` -- when the Parzen classifier is the minimiser;
* :mod:`~kernbench.problems.draws` -- indices drawn in the same order by both twins;
* :mod:`~kernbench.problems.samples`, :mod:`~kernbench.problems.window` -- the examples a sampling method keeps.
"""
