"""Losses of a margin m = y f(x): value, slope, curvature, conjugate, and steps of dual coordinate ascent.

A convex loss l has the dual

    D(a) = (1/n) sum_i w_i psi(a_i) - 1/(2 alpha n^2) sum_ij w_i a_i y_i K_ij y_j a_j w_j,      psi(a) = -l*(-a),

a bound from below on alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i f(x_i)) for every a in the domain of psi; at the
optimum a_i = -l'(m_i) and f = 1/(alpha n) sum_i w_i a_i y_i k(x_i, .).

=============  ======================  ==============================  ============
loss           l(m)                    psi(a)                          domain of a
=============  ======================  ==============================  ============
hinge          max(0, 1 - m)           a                               [0, 1]
squared_hinge  max(0, 1 - m)^2         a - a^2 / 4                     [0, inf)
log_loss       log(1 + exp(-m))        -a log a - (1-a) log(1-a)       [0, 1]
=============  ======================  ==============================  ============

Steps of dual coordinate ascent: `dual_coordinate` changes one a_i; `dual_pair` changes two and keeps
sum_i w_i a_i y_i, which an unregularised intercept requires. The formulas in C are
in ``_margin.h``.
"""

import numpy as np
from scipy.special import entr, expit

from kernbench.losses.base import Loss, check_offered

NEWTON_STEPS = 100  # limit of the safeguarded Newton method for one dual variable, never reached in practice
ALMOST_OPEN = 1e-16  # psi of the logistic loss has infinite slope at 0 and 1: evaluate it this far inside


class MarginLoss(Loss):
    """A loss of a margin, used as a class: it has no parameter.

    Attributes
    ----------
    lower, upper : float
        Domain of psi.
    largest_pull : float
        The largest -l'(m) m.
    """

    kinds = ("margin", "pair", "rank", "output")
    lower, upper, zone, parameter, largest_pull = 0.0, 1.0, 0.0, 0.0, np.inf


class Hinge(MarginLoss):
    """max(0, 1 - m); the slope at the kink is 0."""

    name, code, flat, bend, largest_pull = "hinge", 0, True, 0.0, 1.0

    @staticmethod
    def value(margins):
        return np.maximum(0.0, 1.0 - margins)

    @staticmethod
    def slope(margins):
        return np.where(margins < 1.0, -1.0, 0.0)

    @staticmethod
    def curvature(margins):
        return np.zeros_like(margins, dtype=np.float64)

    @staticmethod
    def dual_value(a):
        return np.asarray(a, dtype=np.float64)

    @staticmethod
    def dual_slope(a):
        return np.ones_like(a, dtype=np.float64)

    @staticmethod
    def dual_curvature(a):
        return np.zeros_like(a, dtype=np.float64)

    @staticmethod
    def dual_coordinate(a, margin, curvature):
        if curvature <= 0.0:
            return 1.0 if margin < 1.0 else 0.0 if margin > 1.0 else a
        return min(max(a + (1.0 - margin) / curvature, 0.0), 1.0)


class SquaredHinge(MarginLoss):
    """max(0, 1 - m)^2."""

    name, code, smoothness, upper = "squared_hinge", 1, 2.0, np.inf
    flat, bend, largest_pull = True, 0.5, 0.5

    @staticmethod
    def value(margins):
        return np.square(np.maximum(0.0, 1.0 - margins))

    @staticmethod
    def slope(margins):
        return -2.0 * np.maximum(0.0, 1.0 - margins)

    @staticmethod
    def curvature(margins):
        return np.where(margins < 1.0, 2.0, 0.0)

    @staticmethod
    def dual_value(a):
        return a - 0.25 * np.square(a)

    @staticmethod
    def dual_slope(a):
        return 1.0 - 0.5 * np.asarray(a, dtype=np.float64)

    @staticmethod
    def dual_curvature(a):
        return np.full_like(a, 0.5, dtype=np.float64)

    @staticmethod
    def dual_coordinate(a, margin, curvature):
        return max(a + (1.0 - 0.5 * a - margin) / (curvature + 0.5), 0.0)


class LogLoss(MarginLoss):
    """log(1 + exp(-m)), the logistic loss."""

    name, code, smoothness, largest_pull = "log_loss", 2, 0.25, 0.27846454276107374

    @staticmethod
    def value(margins):
        return np.logaddexp(0.0, -margins)

    @staticmethod
    def slope(margins):
        return -expit(-np.asarray(margins, dtype=np.float64))

    @staticmethod
    def curvature(margins):
        a = -LogLoss.slope(margins)
        return a * (1.0 - a)

    @staticmethod
    def dual_value(a):
        return entr(a) + entr(1.0 - a)

    @staticmethod
    def dual_slope(a):
        a = np.clip(a, ALMOST_OPEN, 1.0 - ALMOST_OPEN)
        return np.log1p(-a) - np.log(a)

    @staticmethod
    def dual_curvature(a):
        a = np.clip(a, ALMOST_OPEN, 1.0 - ALMOST_OPEN)
        return 1.0 / (a * (1.0 - a))

    @staticmethod
    def dual_coordinate(a, margin, curvature):
        # Newton on g(z) = z + margin + curvature (s(z) - a) = 0, a' = s(z) = 1 / (1 + exp(-z)); g grows in z,
        # and g(-margin) = curvature (s(-margin) - a) gives a bracket of length curvature |s(-margin) - a|. Bisect
        # where a step does not halve the previous one: Newton's method alone may oscillate.
        z = -margin
        pull = curvature * (a - expit(z))
        low, high = min(z, z + pull), max(z, z + pull)
        last = 2.0 * (high - low)
        for _ in range(NEWTON_STEPS):
            s = float(expit(z))
            g = z + margin + curvature * (s - a)
            if g > 0.0:
                high = z
            else:
                low = z
            step = -g / (1.0 + curvature * s * (1.0 - s))
            if not low < z + step < high or 2.0 * abs(step) > abs(last):
                step = 0.5 * (low + high) - z
            z, last = z + step, step
            if abs(step) <= 1e-14 * max(1.0, abs(z)):
                break
        return float(expit(z))


def dual_pair(loss, a, y, w, difference, curvature):
    """Return the best step of two dual variables that keeps sum_i w_i y_i a_i.

    The step s takes a[0] to a[0] + y[0] s / w[0] and a[1] to a[1] - y[1] s / w[1]; among the steps that stay in the
    domain it maximises w[0] psi(a[0]') + w[1] psi(a[1]') - difference s - curvature/2 s^2, the increase of n D.

    Parameters
    ----------
    loss : class of this module
    a, y, w : sequences of two floats
        Dual variables, labels (-1 or +1) and positive weights.
    difference : float
        f(x_0) - f(x_1).
    curvature : float
        (K_00 + K_11 - 2 K_01) / (alpha n).

    Returns
    -------
    float
    """
    grow, shrink = zip(*(pair_room(loss, *one) for one in zip(a, y, w)))
    low, high = -min(shrink[0], grow[1]), min(grow[0], shrink[1])
    if not low < high:
        return 0.0
    if loss is LogLoss:
        return _log_loss_pair(a, y, w, difference, curvature, low, high)
    slope = y[0] * loss.dual_slope(a[0]) - y[1] * loss.dual_slope(a[1]) - difference
    curvature = curvature + loss.bend / w[0] + loss.bend / w[1]
    if curvature > 0.0:
        return float(min(max(slope / curvature, low), high))
    return high if slope > 0.0 else low if slope < 0.0 else 0.0


def pair_room(loss, a, y, w):
    """Return by how much y w a can grow, and by how much it can shrink, in the domain of psi."""
    up, down = (loss.upper - a) * w, a * w
    return (up, down) if y > 0 else (down, up)


def _log_loss_pair(a, y, w, difference, curvature, low, high):
    """Return the zero of the slope in s, by Newton's method safeguarded by bisection."""
    near_an_end = min(a[0], a[1], 1.0 - a[0], 1.0 - a[1]) < 1e-6  # where the first steps would be tiny
    s = 0.5 * (low + high) if near_an_end or not low < 0.0 < high else 0.0
    last = 2.0 * (high - low)
    for _ in range(NEWTON_STEPS):
        x, z = a[0] + y[0] * s / w[0], a[1] - y[1] * s / w[1]
        slope = y[0] * LogLoss.dual_slope(x) - y[1] * LogLoss.dual_slope(z) - difference - curvature * s
        if slope > 0.0:
            low = s
        else:
            high = s
        step = slope / (curvature + LogLoss.dual_curvature(x) / w[0] + LogLoss.dual_curvature(z) / w[1])
        if not low < s + step < high or 2.0 * abs(step) > abs(last):
            step = 0.5 * (low + high) - s
        s, last = s + step, step
        if abs(step) <= 1e-14 * min(w):
            break
    return float(s)


MARGIN_LOSSES = {loss.name: loss for loss in (Hinge, SquaredHinge, LogLoss)}


def margin_loss(name, offered=None):
    """Return the loss called `name`.

    Each has ``name``; ``code``, its number in compiled code; ``smoothness``, the largest second derivative
    (inf for the hinge); ``lower`` and ``upper``, the ends of the domain of its dual variable; ``parameter``, 0 (see
    `losses.regression`); ``value(m)``, ``slope(m)`` and ``curvature(m)``, l'', at its jumps that of one side;
    ``dual_value(a)``, which is psi, ``dual_slope(a)``, psi', and ``dual_curvature(a)``, -psi''; and
    ``dual_coordinate(a, margin, curvature)``, the maximiser over a' of psi(a') - margin (a' - a) -
    curvature/2 (a' - a)^2: the step of dual coordinate ascent, with curvature = w_i K_ii / (alpha n).

    Parameters
    ----------
    name : str
    offered : tuple of str, optional
        Names that the caller accepts; all by default.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, or for a loss that is not offered.
    """
    return MARGIN_LOSSES[check_offered(name, MARGIN_LOSSES if offered is None else offered, MARGIN_LOSSES)]
