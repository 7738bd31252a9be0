"""Exact minimisation of the objective over one or two numbers: the intercept, and the scale of a direction.

A stochastic solver moves f through one example at a time; these few numbers can always be set optimally in
O(n log n), and they make up for much of the noise.
"""

import numpy as np

from kernbench.reference.kernel.water_level import SAME_MASS, paired_heights


def best_intercept(responses, y, weights):
    """Return the b that minimises sum_i w_i hinge(y_i (f(x_i) + b)); the middle, if an interval of them does.

    The slope in b starts at -(weight of the positives) and grows by w_i at y_i - f(x_i), for either class: a
    positive stops losing there, a negative begins to. So b is a weighted quantile of these breakpoints.

    Parameters
    ----------
    responses : ndarray of shape (n,)
        f(x_i), without an intercept.
    y : ndarray of shape (n,)
        Labels, -1 or +1; each class needs a positive weight.
    weights : ndarray of shape (n,)

    Returns
    -------
    float
    """
    used = weights > 0
    breakpoints, masses = (y - responses)[used], weights[used]
    order = np.argsort(breakpoints, kind="stable")
    breakpoints, passed = breakpoints[order], np.cumsum(masses[order])
    positive = weights[y > 0].sum()
    slope = passed - positive  # just right of each breakpoint
    rounding = SAME_MASS * positive  # a flat piece must not be missed because of the order of a sum
    lower = breakpoints[np.argmax(slope >= -rounding)]
    upper = breakpoints[np.argmax(slope > rounding)]
    return float(0.5 * (lower + upper))


def best_scale(heights, squared_norm, y, weights, *, alpha, fit_intercept):
    """Return the s >= 0 and b that minimise alpha/2 s^2 r2 + (1/n) sum_i w_i max(0, 1 - s c_i - y_i b).

    With the best b for each s, the problem with an intercept is the one without, over the paired heights of
    the two classes (see `water_level.paired_heights`). The derivative in s then is

        alpha r2 s - (1/n) sum_{s c_i < 1} w_i c_i,

    which grows with s and jumps up at 1/c_i: its zero is found among the sorted breakpoints.

    Parameters
    ----------
    heights : ndarray of shape (n,)
        c_i = y_i f(x_i) of the direction f.
    squared_norm : float
        r2 = ||f||^2.
    y, weights : ndarray of shape (n,)
    alpha : float
    fit_intercept : bool
        Without it b = 0.

    Returns
    -------
    s : float
        0.0 if no positive multiple of the direction is better than nothing.
    b : float
    """
    curvature = alpha * len(y) * squared_norm
    levels, masses = paired_heights(heights, weights, y) if fit_intercept else (heights, weights)
    s = _zero_of_slope(levels, masses, curvature)
    b = best_intercept(s * y * heights, y, weights) if fit_intercept else 0.0
    return s, b


def _zero_of_slope(heights, masses, curvature):
    """Return the smallest s >= 0 right of which curvature s - sum_{s c_i < 1} m_i c_i is >= 0."""
    pull = masses @ heights
    if pull <= 0 or curvature <= 0:
        return 0.0
    rising = heights > 0
    order = np.argsort(-heights[rising], kind="stable")
    with np.errstate(over="ignore"):
        breakpoints = 1.0 / heights[rising][order]
    left = pull - np.concatenate([[0.0], np.cumsum((masses * heights)[rising][order])])  # after k breakpoints
    ends = np.append(breakpoints, np.inf)
    k = np.argmax(curvature * ends >= left)  # the first piece that ends at a slope of at least 0
    start = breakpoints[k - 1] if k > 0 else 0.0
    return float(max(start, left[k] / curvature))
