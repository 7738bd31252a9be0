"""The ROC-SVM: what drawing pairs costs, what all pairs cost, and what others reach.

Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines", and our exact solvers beside it.

::

    linear.py        ``rocsvm-linear``: Table 1, a linear truth
    nystroem.py      ``rocsvm-nystroem``: Table 2, a radial truth
    real.py          ``rocsvm-real``: Table 3, three real sets
    peers_auc.py     ``peers-auc``: other linear classifiers, judged by AUC

    parts.py         names, parameters and metrics they share
    displays.py      tables and figures they share
    fits.py          a cell: search alpha, fit, score, judge
    judging.py       … against the truth, and by the objective over all pairs
    search.py        alpha by cross-validation
    drawn_pairs.py   a cell: the effect of the number of pairs
    naive.py         the full risk with every pair looked at
    peers.py         the others, with alpha for C
"""

from kernbench.experiments.papers.rocsvm import linear, nystroem, peers_auc, real

EXPERIMENTS = (linear.EXPERIMENT, nystroem.EXPERIMENT, real.EXPERIMENT, peers_auc.EXPERIMENT)

__all__ = ["EXPERIMENTS"]
