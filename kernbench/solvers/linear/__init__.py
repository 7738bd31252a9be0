"""Solvers of alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>) on explicit features: linear support vector machines.

None of them has an intercept of its own: the estimator appends a constant column, as LIBLINEAR does. Its coefficient is
penalised like the others, which `newton` can leave out.

::

    primal.py   what those have in common that keep weights: problem, draws, certificate
     |-- pegasos.py, sbmd.py   stochastic subgradient descent; of random blocks of features
     |-- rbcd.py               random blocks of features, exact gradients
     `-- simba.py              a game between examples and features
    sdca.py                    dual coordinate ascent, with permutations and shrinking
    newton.py                  second order, by conjugate gradients or a factor of the Hessian, on _envelope.pyx
    bundle.py                  cutting planes
    _<name>.pyx                the compiled core of each; kernbench/reference/linear/<name>.py the one in NumPy
"""
