"""The ROC-SVM: drawn pairs against all pairs.

Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines", and our exact solvers beside it.

::

    linear.py        ``rocsvm-linear``: Table 1, a linear truth
    nystroem.py      ``rocsvm-nystroem``: Table 2, a radial truth
    real.py          ``rocsvm-real``: Table 3, three real sets

    parts.py         names, parameters and metrics they share
    displays.py      tables and figures they share
    drawn_pairs.py   a cell: the effect of the number of pairs
    naive.py         the full risk, every pair computed
"""
