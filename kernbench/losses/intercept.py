"""The best intercept of given decision values."""

import numpy as np
from scipy.optimize import brentq

from kernbench.losses.margin import Hinge
from kernbench.losses.water_level import SAME_MASS


def best_intercept(responses, y, weights, loss=Hinge):
    """Return the b that minimises sum_i w_i l(y_i (f(x_i) + b)); the middle, if an interval of them does.

    Hinge: the slope in b starts at -(weight of the positives) and grows by w_i at y_i - f(x_i), for either class: a
    positive stops losing there, a negative begins to. So b is a weighted quantile of these breakpoints. The smooth
    losses: the zero of the slope, which grows with b.

    Parameters
    ----------
    responses : ndarray of shape (n,)
        f(x_i), without an intercept.
    y : ndarray of shape (n,)
        Labels, -1 or +1; each class needs a positive weight.
    weights : ndarray of shape (n,)
    loss : class of `losses.margin`

    Returns
    -------
    float
    """
    used = weights > 0
    responses, y, weights = responses[used], y[used], weights[used]
    if loss is Hinge:
        return _weighted_quantile(y - responses, weights, weights[y > 0].sum())

    def slope(b):
        return float((weights * y) @ loss.slope(y * (responses + b)))

    low, high = float((y - responses).min()), float((y - responses).max())
    width = 1.0 + high - low
    while slope(low) > 0:
        low, width = low - width, 2 * width
    while slope(high) < 0:
        high, width = high + width, 2 * width
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14)) if low < high else low


def _weighted_quantile(breakpoints, masses, level):
    """The middle of the points right of which the running sum of masses is `level`."""
    order = np.argsort(breakpoints, kind="stable")
    breakpoints, passed = breakpoints[order], np.cumsum(masses[order])
    slope = passed - level  # just right of each breakpoint
    rounding = SAME_MASS * level  # a flat piece must not be missed because of the order of a sum
    lower = breakpoints[np.argmax(slope >= -rounding)]
    upper = breakpoints[np.argmax(slope > rounding)]
    return float(0.5 * (lower + upper))
