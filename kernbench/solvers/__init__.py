"""Solvers: states that advance, one driver that moves them, one registry that names them.

::

    registry ──names──> Method (base class: defaults for all that the driver asks)
                          |  one class an algorithm: parameters, order of epochs and stages, arrays, objective, gap
    driver ──advances──>  |
                          core: functions on arrays, of the same names, two of them
                            solvers/<folder>/_<name>.pyx  compiled      reference/<folder>/<name>.py  NumPy

``driver.run`` is the only loop, ``registry.SOLVERS`` the only list; the algorithms are in folders by problem
(``kernel/`` for kernel expansions). A core that only calls BLAS, LAPACK and other compiled parts is a ``_<name>.py``.
"""
