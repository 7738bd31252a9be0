"""Starts of the folds: the solution for all rows, made feasible without the held-out rows.

Holding rows out bounds their coefficients by [0, 0]. The sum of the others is then off, and it is restored on few
coefficients, because each one that changes costs a kernel row (compare alpha seeding: Wen et al., AAAI 2017).
"""

import numpy as np

from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

BATCH_ROWS = 256  # kernel rows that are converted to float64 at a time


def box_of(y, weights, C):
    """Return the bounds of the coefficients y_i a_i, 0 <= a_i <= C w_i, with the roundings of `MarginProblem`.

    A coefficient one rounding below its bound would count as free, and decide the intercept.
    """
    end = y * weights / (1.0 / (C * len(y)) * len(y))
    return np.minimum(end, 0.0), np.maximum(end, 0.0)


def restored(coef, lower, upper, slopes, with_bias):
    """Return coefficients inside the box, of sum 0 with a bias, that differ from `coef` in few entries.

    Parameters
    ----------
    coef, lower, upper : ndarray of shape (n,)
        The box contains 0.
    slopes : ndarray of shape (n,)
        y_i - f(x_i) - b: coefficients at a bound with the smallest magnitudes follow the free ones.
    with_bias : bool
    """
    start = _at_bounds(np.clip(coef, lower, upper), lower, upper)
    missing = -start.sum()
    if not with_bias or missing == 0.0:
        return start
    bound = upper if missing > 0 else lower
    room = np.abs(bound - start)
    free = (start > lower) & (start < upper)
    total = room[free].sum()
    if total > 0.0:
        share = min(1.0, abs(missing) / total)
        start[free] += share * (bound - start)[free]
        missing *= max(0.0, 1.0 - total / abs(missing))
    if missing != 0.0:
        rest = np.flatnonzero(~free & (room > 0.0))
        rest = rest[np.argsort(np.abs(slopes[rest]), kind="stable")]
        before = np.cumsum(room[rest]) - room[rest]
        start[rest] += np.sign(missing) * np.clip(abs(missing) - before, 0.0, room[rest])
    return _at_bounds(start, lower, upper)


def _at_bounds(coef, lower, upper):
    """Set coefficients within rounding of a bound to it."""
    reach = SAME_BETA * (upper - lower)
    coef = np.where(coef - lower <= reach, lower, coef)
    return np.where(upper - coef <= reach, upper, coef)


def nearer(start, other, y):
    """Return the start with the larger dual objective sum_i y_i beta_i - 1/2 beta' K beta; `other` may be None."""
    if other is None:
        return start
    duals = [one.coef @ (y - 0.5 * one.state["products"]) for one in (start, other)]
    return other if duals[1] > duals[0] else start


def products_of(rows, products, coef, starts):
    """Return K times each column of `starts`, given `products`, which is K times `coef`.

    A kernel row of which any start needs a change is fetched once.

    Parameters
    ----------
    rows : KernelRows
    products, coef : ndarray of shape (n,)
    starts : ndarray of shape (n, n_starts)
    """
    changes = starts - coef[:, None]
    changed = np.flatnonzero(changes.any(axis=1))
    result = np.repeat(products[:, None], starts.shape[1], axis=1)
    for first in range(0, len(changed), BATCH_ROWS):
        part = changed[first : first + BATCH_ROWS]
        result += rows.batch(part).T.astype(np.float64) @ changes[part]
    return result
