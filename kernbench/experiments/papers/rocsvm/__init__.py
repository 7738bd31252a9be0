"""The ROC-SVM: drawn pairs against all pairs.

Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines", and our exact solvers beside it.

::

    linear.py        ``rocsvm-linear``: Table 1, a linear truth
    nystroem.py      ``rocsvm-nystroem``: Table 2, a radial truth
    real.py          ``rocsvm-real``: Table 3, three real sets

    parts.py         names, parameters and metrics they share
    simulation.py    scales, tables and figures of the two simulations
    drawn_pairs.py   a cell: the effect of the number of pairs
    equal.py         a cell: the time to equal objectives, beside that of 1,000 steps
    theorem.py       a cell: the left side of Theorem 4 over the number of rows
    naive.py         the full risk, every pair computed
"""
