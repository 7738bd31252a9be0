"""Vertices of the ROC curve, and the area under parts of it."""

import numpy as np

from kernbench.pairs._order import ScoreOrder


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


def area_between(x, y, fpr_range, tpr_range, ties):
    """Share of a rectangle of rates that lies below the ROC curve.

    Parameters
    ----------
    x, y : ndarray of shape (n_distinct,)
        Vertices as `roc_vertices` returns them.
    fpr_range, tpr_range : (float, float)
        The sides of the rectangle.
    ties : {"half", "miss"}
        Tied scores are a sloping piece of the curve, or a step along its lower side.

    Returns
    -------
    float
        In [0, 1].
    """
    x, y = (np.append(0.0, values) / values[-1] for values in (x, y))
    (low, high), (floor, ceiling) = fpr_range, tpr_range
    begin, end = np.clip(x[:-1], low, high), np.clip(x[1:], low, high)
    width = end - begin
    met = width > 0
    x, step, rise, begin, end, width, y = (
        values[met] for values in (x[:-1], np.diff(x), np.diff(y), begin, end, width, y[:-1])
    )
    slope = rise / step if ties == "half" else np.zeros(len(step))
    first, last = y + slope * (begin - x), y + slope * (end - x)
    lowest, highest = np.clip(first, floor, ceiling), np.clip(last, floor, ceiling)
    # Along a piece the clipped height is `floor`, then rises, then is `ceiling`.
    length = np.where(last > first, last - first, 1.0)
    shares = np.array([np.clip(floor, first, last) - first, highest - lowest, last - np.clip(ceiling, first, last)])
    heights = np.array([np.full(len(first), floor), 0.5 * (lowest + highest), np.full(len(first), ceiling)])
    mean = np.where(last > first, np.sum(shares * heights, axis=0) / length, lowest)
    return float(np.clip(np.sum(width * (mean - floor)) / ((high - low) * (ceiling - floor)), 0.0, 1.0))
