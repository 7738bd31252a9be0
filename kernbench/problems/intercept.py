"""The best intercept of given decision values, and the constant of least loss."""

from math import ceil, floor

import numpy as np
from scipy.optimize import brentq

from kernbench.losses.margin import Hinge, SquaredHinge
from kernbench.pairs.thresholds import quantile
from kernbench.problems.water_level import SAME_MASS

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 4.0  # usual error of a sum of n masses, in units of EPS sqrt(n) times the sum
WIDE = 1e4  # Huber's delta, in units of the spread of the targets, from which their mean is taken


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
    """
    used = weights > 0
    responses, y, weights = responses[used], y[used], weights[used]
    if loss is Hinge:
        return weighted_quantile(y - responses, weights, weights[y > 0].sum())
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


def best_constant(targets, weights, loss):
    """Return the b that minimises sum_i w_i l(b - t_i) for a loss of residuals; one of them where it is not unique.

    Squared error: the mean. Absolute error and quantile: a weighted quantile. The epsilon-insensitive loss has slope -1
    up to t_i - epsilon, 1 from t_i + epsilon on, and 0 in between: a median of both ends of all these intervals. Huber
    and the squared epsilon-insensitive loss: the zero of a slope that is linear between such points. Others: a zero of
    the slope, by bisection and interpolation.

    Parameters
    ----------
    targets : ndarray of shape (n,)
    weights : ndarray of shape (n,), or None
    loss : ResidualLoss
    """
    if loss.name == "squared_error":
        return float(np.average(targets, weights=weights))
    if loss.name in ("absolute_error", "quantile"):
        return quantile(targets, loss.parameter if loss.name == "quantile" else 0.5, weights)
    weights = np.ones(len(targets)) if weights is None else weights
    if loss.name == "huber":
        return _zero_of_clipped(targets, weights, loss.parameter)
    if not weights.min() > 0:
        targets, weights = targets[weights > 0], weights[weights > 0]
    ends, masses = (
        np.concatenate([targets - loss.parameter, targets + loss.parameter]),
        np.concatenate([weights, weights]),
    )
    if loss.name == "epsilon_insensitive":
        return weighted_quantile(ends, masses, weights.sum())
    if loss.name == "squared_epsilon_insensitive":
        return _zero_of_pieces(ends, masses, np.arange(len(ends)) < len(targets))
    return _zero_of_slope(targets, weights, loss)


def _zero_of_slope(targets, weights, loss):
    """A zero of sum_i w_i l'(b - t_i), for a loss that is least at 0: it lies between the targets."""

    def slope(b):
        return float(weights @ loss.slope(b - targets))

    low, high = float(targets.min()), float(targets.max())
    if slope(low) >= 0.0:
        return low
    if slope(high) <= 0.0:
        return high
    return float(brentq(slope, low, high, xtol=1e-14, rtol=1e-14, maxiter=1000))


def _zero_of_clipped(targets, weights, delta):
    """The zero of sum_i w_i clip(b - t_i, -delta, delta), the midpoint of several."""
    lowest, spread = targets.min(), np.ptp(targets)
    if delta > WIDE * spread:  # nothing is clipped, and t_i - delta and t_i + delta lose the digits of t_i
        return float(lowest + np.average(targets - lowest, weights=weights))
    points = np.concatenate([targets - delta, targets + delta])
    order = np.argsort(points, kind="stable")
    points, gains = points[order], np.concatenate([weights, -weights])[order]  # of the slope of that sum
    total = weights.sum()
    rises = np.cumsum(gains)[:-1] * np.diff(points)
    sums = np.concatenate([[0.0], np.cumsum(rises)]) - delta * total
    rounding = SAME_MASS * delta * total  # sums in a different order may differ by this much on a flat piece
    zeros = np.flatnonzero(np.abs(sums) <= rounding)
    if len(zeros):
        return float(0.5 * (points[zeros[0]] + points[zeros[-1]]))
    k = int(np.argmax(sums > 0.0))
    return float(points[k - 1] - sums[k - 1] * (points[k] - points[k - 1]) / (sums[k] - sums[k - 1]))


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


def weighted_quantile(breakpoints, masses, level):
    """The midpoint of the points to the right of which the running sum of masses is `level`."""
    if (masses == masses[0]).all():  # three times as fast, without a sort
        rank, rounding = level / masses[0], SAME_MASS * level / masses[0]
        lower, upper = max(1, ceil(rank - rounding)) - 1, min(floor(rank + rounding), len(masses) - 1)
        found = np.partition(breakpoints, (lower, upper))
        return float(0.5 * (found[lower] + found[upper]))
    order = np.argsort(breakpoints, kind="stable")
    breakpoints, passed = breakpoints[order], np.cumsum(masses[order])
    slope = passed - level  # just right of each breakpoint
    rounding = rounding_of(masses, level)
    last = len(breakpoints) - 1
    lower, upper = (breakpoints[min(np.count_nonzero(below), last)] for below in (slope < -rounding, slope <= rounding))
    return float(0.5 * (lower + upper))


def rounding_of(masses, level):
    """By how much sums of masses in a different order may differ from `level` on a flat piece.

    Less than any mass, if possible: a class that weighs 1e12 times more would otherwise make the other weightless.
    """
    rounding = SAME_MASS * level
    if np.where(masses > 0, masses, np.inf).min() > rounding:
        return rounding
    return min(rounding, ROUNDINGS * EPS * len(masses) ** 0.5 * level)
