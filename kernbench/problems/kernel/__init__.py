"""Problems of the kernel SVM solvers.

* :mod:`~kernbench.problems.kernel.expansion` -- the best multiple and intercept of a direction, with its gap;
* :mod:`~kernbench.problems.kernel.parzen` -- when the Parzen classifier is the minimiser;
* :mod:`~kernbench.problems.kernel.conjugate`, :mod:`~kernbench.problems.kernel.online` -- options of these methods,
  checked;
* :mod:`~kernbench.problems.kernel.newton` -- constants of Newton's method;
* :mod:`~kernbench.problems.kernel.ridge` -- kernel ridge regression on all rows but some.
"""
