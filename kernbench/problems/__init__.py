"""What both twins of a solver share: the problem they minimise, its certificates, and how examples are drawn.

* :mod:`~kernbench.problems.margin_problem`, :mod:`~kernbench.problems.linear_problem` -- the regularised problems of
  the kernel and linear SVM solvers, checked;
* :mod:`~kernbench.problems.nu_problem`, :mod:`~kernbench.problems.novelty_problem` -- those with a share nu, and of one
  class;
* :mod:`~kernbench.problems.certificate` -- certificates that hold in floating point;
* :mod:`~kernbench.problems.risk` -- whether what a solution keeps of a risk belongs to another one;
* :mod:`~kernbench.problems.intercept` -- the best intercept of given decision values;
* :mod:`~kernbench.problems.multiples` -- the best multiple of given decision values;
* :mod:`~kernbench.problems.water_level` -- the largest smallest margin for a given sum of slacks;
* :mod:`~kernbench.problems.slack_budget` -- conversions between the regularised problem and the slack-constrained one;
* :mod:`~kernbench.problems.whole_objective` -- the objective over all rows of a function fitted to a sample of them;
* :mod:`~kernbench.problems.draws` -- indices drawn in the same order by both twins.

What only one family of solvers uses is in the folder of its name: `kernel/`, `linear/`, `ranking/`, `streaming/`.
"""
