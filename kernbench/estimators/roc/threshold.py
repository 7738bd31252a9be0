"""The intercept for a threshold: a row is positive if score + intercept >= 0."""

import numpy as np

from kernbench.estimators.roc.parameters import YOUDEN
from kernbench.pairs import thresholds
from kernbench.pairs.curve import roc_vertices

SAME = 1e-12  # values of Youden's index that differ by less are equal


def intercept_for(threshold, scores, positive, weights=None, rounding=lambda: 0.0):
    """Return the intercept for `threshold` on these scores.

    Parameters
    ----------
    threshold : "youden", float, ("sensitivity", s) or ("specificity", q)
    scores : ndarray of shape (n,)
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), optional
    rounding : callable
        ``rounding()``, of which only rates have need: a threshold at a score is moved this far to the safe side, for in
        another batch of rows the score may be rounded differently, and the level must be reached there too.
    """
    if isinstance(threshold, str) and threshold == YOUDEN:
        return -_youden(scores, positive, weights)
    if not isinstance(threshold, tuple | list):
        return -float(threshold)
    name, level = threshold
    if name == "sensitivity":
        return rounding() - thresholds.for_sensitivity(scores, positive, level, weights)
    return -rounding() - thresholds.for_specificity(scores, positive, level, weights)


def _youden(scores, positive, weights):
    """Return the threshold of largest sensitivity + specificity, half way between two scores.

    Among equally good ones, that of the largest accuracy.
    """
    if weights is not None and not np.all(weights > 0):
        scores, positive, weights = scores[weights > 0], positive[weights > 0], weights[weights > 0]
    alarms, hits, distinct = roc_vertices(scores, positive, weights)
    alarms, hits = np.append(0.0, alarms), np.append(0.0, hits)  # of the k largest distinct scores
    index = hits / hits[-1] - alarms / alarms[-1]
    good = np.flatnonzero(index >= index.max() - SAME)
    k = good[np.argmax(hits[good] - alarms[good])]
    return thresholds.below_the_largest(distinct, k)
