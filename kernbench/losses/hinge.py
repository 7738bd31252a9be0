"""The weighted hinge loss of a kernel expansion: its best intercept, and lower bounds on the regularised optimum.

With a_i in [0, 1] (and sum_i w_i a_i y_i = 0 when there is an intercept), weak duality says that

    D(a) = (1/n) sum_i w_i a_i - 1/(2 alpha n^2) sum_ij w_i a_i y_i K_ij y_j a_j w_j

is at most alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)) for every f and b. The optimal function
is f = 1/(alpha n) sum_i w_i a_i y_i k(x_i, .), so coefficients near the optimum tell an a near the dual one.
"""

import numpy as np

from kernbench.losses.water_level import SAME_MASS


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


def dual_bound(rows, y, coef, *, alpha, weights, fit_intercept, responses=None):
    """Return a lower bound on the optimal objective.

    Parameters
    ----------
    rows : KernelRows or ReferenceRows
    y : ndarray of shape (n,)
        Labels, -1 or +1.
    coef : ndarray of shape (n,)
        Signed coefficients of f.
    alpha : float
    weights : ndarray of shape (n,)
    fit_intercept : bool
    responses : ndarray of shape (n,), optional
        f(x_i) = (K coef)_i, where known; saves the product with K when `coef` needs no repair.

    Returns
    -------
    float
        D at the best multiple of the repaired a; at least 0.
    """
    n = len(y)
    a = dual_variables(y, coef, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
    if not np.any(a):
        return 0.0
    signed = weights * y * a
    if responses is not None and np.allclose(signed, alpha * n * coef, rtol=1e-13, atol=0.0):
        products = alpha * n * responses
    else:
        products = rows.matvec(signed)

    # D(theta a) is a parabola in theta; theta may grow until the largest entry is 1.
    linear = weights @ a / n
    quadratic = signed @ products / (alpha * n**2)
    theta = 1.0 / a.max()
    if quadratic > 0:
        theta = min(theta, linear / quadratic)
    return float(theta * linear - 0.5 * theta**2 * quadratic)


def dual_variables(y, coef, *, alpha, weights, fit_intercept):
    """Return a dual feasible a in [0, 1]^n near the one that `coef` would have at the optimum.

    Entries outside [0, 1] are clipped; with an intercept the class with the larger sum of w_i a_i is then
    scaled down to the other's.
    """
    raw = np.divide(alpha * len(y) * y * coef, weights, out=np.zeros(len(y)), where=weights > 0)
    a = np.clip(raw, 0.0, 1.0)
    if fit_intercept:
        mass = weights * a
        positive, negative = mass[y > 0].sum(), mass[y < 0].sum()
        if positive > negative:
            a[y > 0] *= negative / positive
        elif negative > positive:
            a[y < 0] *= positive / negative
    return a


def balanced(beta):
    """Return signed coefficients with the larger side scaled down, so that their sum is zero.

    A sum that is zero but for rounding stays: scaling would move coefficients off their bounds by a last bit, and
    each of them would count as free.
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
