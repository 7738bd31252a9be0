"""Vertices of the ROC curve."""

import numpy as np

from kernbench.ranking._order import ScoreOrder


def roc_vertices(scores, positive, weights=None):
    """Weight of the negatives and of the positives at or above each distinct score, from the highest down.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), optional
        Above 0.

    Returns
    -------
    x, y, thresholds : ndarray of shape (n_distinct,), float64
    """
    order = ScoreOrder(positive).argsort(scores)[::-1]
    descending, mine = scores[order], positive[order]
    last = np.append(np.flatnonzero(descending[:-1] != descending[1:]), len(order) - 1)  # of each score
    if weights is None:
        y = np.cumsum(mine)[last]
        return last + 1.0 - y, y.astype(np.float64), descending[last]
    weights = weights[order]
    x, y = (np.cumsum(np.where(members, weights, 0.0))[last] for members in (~mine, mine))
    return x, y, descending[last]


def corners(x, y):
    """Which vertices draw the polygonal line: both ends, and those where its direction changes."""
    dx, dy = np.diff(x), np.diff(y)
    turns = dx[:-1] * dy[1:] != dx[1:] * dy[:-1]
    return np.concatenate([[True], turns, [True]])
