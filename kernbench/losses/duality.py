"""Lower bounds on the regularised optimum of a kernel expansion, from its coefficients.

With a_i in the domain of psi (and sum_i w_i a_i y_i = 0 when there is an intercept), weak duality says that

    D(a) = (1/n) sum_i w_i psi(a_i) - 1/(2 alpha n^2) sum_ij w_i a_i y_i K_ij y_j a_j w_j

is at most alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)) for every f and b (see `losses.margin`). The
optimal function is f = 1/(alpha n) sum_i w_i a_i y_i k(x_i, .), so that coefficients near the optimum give an a near
the dual optimum. For losses of residuals see `losses.regression`.
"""

import numpy as np
from scipy.optimize import brentq

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import ResidualLoss


def dual_bound(rows, y, coef, *, alpha, weights, fit_intercept, responses=None, loss=Hinge, targets=0.0):
    """Return a lower bound on the optimal objective.

    Parameters
    ----------
    rows : KernelRows
    y : ndarray of shape (n,)
        Labels, -1 or +1; ones for a loss of residuals.
    coef : ndarray of shape (n,)
        Signed coefficients of f.
    alpha : float
    weights : ndarray of shape (n,)
    fit_intercept : bool
    responses : ndarray of shape (n,), optional
        f(x_i) = (K coef)_i, if known; saves the product with K where `coef` is dual feasible.
    loss : class of `losses.margin`, or ResidualLoss
    targets : ndarray of shape (n,), optional
        Targets of a loss of residuals.

    Returns
    -------
    float
        D at the best multiple of the feasible a; at least 0.
    """
    n = len(y)
    a = dual_variables(y, coef, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
    if not np.any(a):
        return 0.0
    if not np.isfinite(a).all():  # steps of a solver that diverges
        return -np.inf
    unit = unit_of(a, loss)
    a = a / unit
    signed = weights * y * a
    if responses is not None and np.allclose(signed, alpha * n * (coef / unit), rtol=1e-12, atol=0.0):
        products = alpha * n * (responses / unit)
    else:
        products = rows.matvec(signed)
    quadratic = signed @ products / (alpha * n**2)
    return best_multiple(a, weights, quadratic, n, loss, targets)


def unit_of(a, loss):
    """Return a power of two by which to divide `a` before its squares are added up, which might underflow otherwise.

    `best_multiple` of the quotient is the same bound, to the last bit. Where psi is not quadratic it would not be, but
    a is of order one there: the unit is 1.0.
    """
    return 1.0 if loss.bend is None else float(np.ldexp(1.0, int(np.frexp(np.abs(a).max())[1]) - 1))


def best_multiple(a, weights, quadratic, n, loss, targets=0.0):
    """Return the largest D(theta a), theta a in the domain; at least 0."""
    if not np.isfinite(quadratic):  # it overflowed: theta = 0
        return 0.0
    if isinstance(loss, ResidualLoss):
        ends = ((loss.upper, a.max()), (loss.lower, a.min()))
        longest = min(end / reach for end, reach in ends if np.sign(reach) == np.sign(end))
        linear = weights @ (a * targets - loss.zone * np.abs(a)) / n
        quadratic = quadratic + loss.bend * (weights @ a**2) / n
        theta = min(longest, max(0.0, linear / quadratic)) if quadratic > 0 else longest * (linear > 0)
        return float(theta * linear - 0.5 * theta**2 * quadratic)
    longest = loss.upper / a.max()
    if loss.bend is None:
        return _best_multiple_by_search(a, weights, quadratic, n, longest, loss)
    linear = weights @ a / n
    quadratic = quadratic + loss.bend * (weights @ a**2) / n
    theta = min(longest, linear / quadratic) if quadratic > 0 else longest  # of a parabola
    return float(theta * linear - 0.5 * theta**2 * quadratic)


def _best_multiple_by_search(a, weights, quadratic, n, longest, loss):
    """Return D(theta a) at its maximum where psi is not quadratic; it is concave, and any theta gives a bound."""
    used = (a > 0) & (weights > 0)
    if not np.any(used):
        return 0.0
    a, weights = a[used], weights[used]

    def slope(theta):
        return weights @ (a * loss.dual_slope(theta * a)) / n - theta * quadratic

    end = longest * (1.0 - 1e-12)
    low = high = min(1.0, end)
    while slope(low) < 0.0:
        high, low = low, 0.5 * low
    while high < end and slope(high) > 0.0:
        low, high = high, min(2.0 * high, end)
    theta = brentq(slope, low, high, rtol=1e-9) if low < high and slope(high) < 0.0 else high
    return float(max(0.0, weights @ loss.dual_value(theta * a) / n - 0.5 * theta**2 * quadratic))


def dual_variables(y, coef, *, alpha, weights, fit_intercept, loss=Hinge):
    """Return a dual feasible a, each a_i in the loss's domain, near that of `coef` (equal to it at the optimum).

    Entries outside the domain are clipped; with an intercept the class, or in a regression the sign, with the larger
    sum of w_i a_i is then scaled down to the other's.
    """
    raw = np.divide(alpha * len(y) * y * coef, weights, out=np.zeros(len(y)), where=weights > 0)
    a = np.clip(raw, loss.lower, loss.upper)
    if fit_intercept:
        mass, side = weights * a, a if isinstance(loss, ResidualLoss) else y
        positive, negative = abs(mass[side > 0].sum()), abs(mass[side < 0].sum())
        if positive > negative:
            a[side > 0] *= negative / positive
        elif negative > positive:
            a[side < 0] *= positive / negative
    return a


def balanced(beta):
    """Return signed coefficients with the larger side scaled down, so that their sum is zero.

    Coefficients whose sum is zero up to rounding are returned unchanged: scaling would move them off their bounds by a
    rounding error, and they would then count as free.
    """
    positive, negative = beta[beta > 0].sum(), -beta[beta < 0].sum()
    beta = beta.copy()
    if abs(positive - negative) <= 1e-12 * (positive + negative):
        return beta
    if positive > negative:
        beta[beta > 0] *= negative / positive
    elif negative > positive:
        beta[beta < 0] *= positive / negative
    return beta
