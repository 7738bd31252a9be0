"""Area under the ROC curve in plain NumPy: the vertices of the curve, then trapezia."""

import numpy as np


def roc_curve(scores, positive, weights=None):
    """Vertices of the ROC curve, from (0, 0) to (1, 1): one for each distinct score, descending.

    Returns
    -------
    false_positive_rate, true_positive_rate : ndarray
    """
    weights = np.ones(len(scores)) if weights is None else weights
    _, group = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    rates = []
    for members in (~positive, positive):
        mass = np.cumsum(np.bincount(group, weights=weights * members))
        rates.append(np.append(0.0, mass / mass[-1]))
    return tuple(rates)


def roc_area(scores, positive, weights=None, low=0.0, high=1.0):
    """Mean height of the curve between the false positive rates `low` and `high`."""
    x, y = roc_curve(scores, positive, weights)
    area = 0.0
    for k in range(len(x) - 1):
        begin, end = max(x[k], low), min(x[k + 1], high)
        if begin < end:
            middle = (0.5 * (begin + end) - x[k]) / (x[k + 1] - x[k])
            area += (end - begin) * (y[k] + middle * (y[k + 1] - y[k]))
    return area / (high - low)
