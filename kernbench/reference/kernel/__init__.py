"""References of the solvers whose model is a kernel expansion f(x) = sum_i coef_i k(x_i, x) + b.

``problem.py`` is the objective they share and ``certificate.py`` its dual bound; ``scale.py`` minimises it
over one or two numbers. ``water_level.py`` is the inner problem of the stochastic batch perceptron, once more
by selection in ``selection.py``.
"""
