"""Exact arithmetic over pairs of a positive and a negative score: losses, ranges of ranks, the ROC curve.

A solver sees a set of pairs as an object that turns scores into a loss and its derivatives:

* :class:`AllPairs` -- every pair, by one sort: hinge, squared hinge and logistic loss, derivatives, Hessian products;
* :class:`DrawnPairs` -- the same on a list of pairs, which :func:`draw_pairs` draws.

Losses over a range of ranks are differences of two convex functions (``_window.pxd``, class ``RankedLoss``):

* :class:`WindowPairs` -- the pairs of a window of false positive rates (:func:`window_of`);
* :class:`RankedRange` -- one list of losses;
* :class:`StructuralBound` -- the convex bound of the partial AUC that SVMpAUC-tight minimises.

All offer compiled solvers the same methods without Python (``_pairs.pxd``, class ``Pairs``). Each object sorts in its
own memory: one object may be used by one thread at a time, several objects by several threads. The squared
loss needs no pairs at all (:func:`squared_loss_and_gradient`, :func:`squared_hessian_product`,
:func:`difference_moments`). Underneath, ``_order`` sorts in memory that is allocated once. For
:mod:`kernbench.metrics` ``_roc`` sweeps over sorted scores; ``curve`` and ``thresholds`` read them.
"""

import kernbench.kernels.threads  # noqa: F401  what a fork needs of parallel loops
from kernbench.pairs._pairs import AllPairs, DrawnPairs
from kernbench.pairs._ranked_range import RankedRange
from kernbench.pairs._structural import StructuralBound
from kernbench.pairs._window import WindowPairs
from kernbench.pairs.drawing import draw_pairs
from kernbench.pairs.moments import difference_moments, squared_hessian_product, squared_loss_and_gradient
from kernbench.pairs.window import window_of

__all__ = [
    "AllPairs",
    "DrawnPairs",
    "RankedRange",
    "StructuralBound",
    "WindowPairs",
    "difference_moments",
    "draw_pairs",
    "squared_hessian_product",
    "squared_loss_and_gradient",
    "window_of",
]
