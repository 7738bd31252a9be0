"""The best intercept of given decision values."""

import numpy as np
from scipy.optimize import brentq

from kernbench.losses.margin import Hinge, SquaredHinge
from kernbench.problems.water_level import SAME_MASS


def best_intercept(responses, y, weights, loss=Hinge):
    """Return the b that minimises sum_i w_i l(y_i (f(x_i) + b)); the midpoint where the minimisers are an interval.

    Hinge: the slope in b starts at -(weight of the positives) and grows by w_i at y_i - f(x_i), for either
    class: the loss of a positive becomes zero there, that of a negative positive. So b is a weighted quantile of
    these breakpoints. Squared hinge: the slope is linear between them, and its zero is found among the pieces.
    Logistic loss: the zero of the slope.

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
    if loss is SquaredHinge:
        return _zero_of_pieces(y - responses, weights, y > 0)

    def slope(b):
        return float((weights * y) @ loss.slope(y * (responses + b)))

    low, high = float((y - responses).min()), float((y - responses).max())
    width = 1.0 + high - low
    while slope(low) > 0:
        low, width = low - width, 2 * width
    while slope(high) < 0:
        high, width = high + width, 2 * width
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14, maxiter=1000)) if low < high else low


def _zero_of_pieces(breakpoints, weights, positive):
    """The zero of sum w_i (b - t_i) over positives with t_i > b and negatives with t_i < b; the midpoint of several."""
    last, first = breakpoints[positive].max(), breakpoints[~positive].min()
    if last <= first:  # all losses are zero in between
        return float(0.5 * (last + first))
    order = np.argsort(breakpoints, kind="stable")
    t, w, rising = breakpoints[order], weights[order], ~positive[order]
    centre = t[len(t) // 2]
    moments = w * (t - centre)
    # Between t_k and t_k+1 the losses of the negatives up to k and of the positives beyond are positive.
    mass = np.cumsum(np.where(rising, w, -w)) + w[~rising].sum()
    moment = np.cumsum(np.where(rising, moments, -moments)) + moments[~rising].sum()
    slope_at_end = mass[:-1] * (t[1:] - centre) - moment[:-1]
    k = int(np.argmax(slope_at_end >= 0.0)) if np.any(slope_at_end >= 0.0) else len(t) - 1
    return float(centre + moment[k] / mass[k]) if mass[k] > 0.0 else float(t[k])


def _weighted_quantile(breakpoints, masses, level):
    """The midpoint of the points to the right of which the running sum of masses is `level`."""
    order = np.argsort(breakpoints, kind="stable")
    breakpoints, passed = breakpoints[order], np.cumsum(masses[order])
    slope = passed - level  # just right of each breakpoint
    rounding = SAME_MASS * level  # sums in a different order may differ by this much on a flat piece
    lower = breakpoints[np.argmax(slope >= -rounding)]
    upper = breakpoints[np.argmax(slope > rounding)]
    return float(0.5 * (lower + upper))
