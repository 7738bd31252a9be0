"""Stochastic conjugate subgradients: the paper's table and figures, with the certified optimum.

Zhang and Sen, "The Stochastic Conjugate Subgradient Algorithm for Kernel Support Vector Machines".

::

    accuracy.py         ``scs-accuracy``: Table 1, ten data sets, five methods, at λ = 1 and at a validated λ
    objective.py        ``scs-objective``: Figures 1 and 2, the first and last iterations, with the gap
    widths.py           ``scs-width``: the kernel's width at λ = 1, which the paper does not give

    parts.py            data sets, methods and metrics they share
    evaluation.py       accuracy, objective, distance to the certified optimum
    first_and_last.py   a cell: the objective of the first and the last iterations
    width.py            a cell: accuracy at λ = 1 over the width
    flatness.py         a cell: the time of a fit as the number of rows grows
"""
