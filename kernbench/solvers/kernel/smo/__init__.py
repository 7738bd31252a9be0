"""Sequential minimal optimisation on working sets: the dual of the kernel SVM to a certified gap.

* ``smo``          the class that the registry names;
* ``_smo``         rounds of working sets, shrinking, stopping; ``_working_set``, pair steps inside a set;
* ``refined_smo``  float64 solutions at about the cost of float32 ones, on rows of two precisions;
* ``dual_state``   coefficients and gradient of the dual problem, violated conditions, working sets.
"""
