"""Starts of the folds: the solution for all rows, made feasible without the held-out rows.

Holding rows out bounds their coefficients by [0, 0]. The sum of the others is then off, and it is restored on few
coefficients, because each one that changes costs a kernel row (compare alpha seeding: Wen et al., AAAI 2017).
"""

import numpy as np

from kernbench.estimators.svm.kernel_task import LEAST_PRODUCT
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

NEAR = 0.5  # share of the dual objective for all rows from which a start is not compared with that from all rows


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


def scaled(solution, y, growth, box):
    """Return the start for `growth` times the C of a solution, inside its box, with the products known.

    All coefficients grow in proportion, and remain balanced, if this has the larger dual objective and does not
    multiply the rounding of tiny products; else they stay.
    """
    products = solution.state["products"]
    larger = Solution(growth * solution.coef, state={"products": growth * products})
    if np.abs(products).max() < LEAST_PRODUCT or dual_of(larger, y) <= dual_of(solution, y):
        growth = 1.0
    return Solution(
        _at_bounds(np.clip(growth * solution.coef, *box), *box),
        solution.intercept,
        state={"products": growth * products},
    )


def without_rows(rows, full, y, boxes, with_bias):
    """Return the starts inside `boxes` that `restored` makes from the solution for all rows, with their products.

    Each kernel row of which any start needs a change is fetched once.
    """
    if not boxes:
        return []
    coef, products = full.coef, full.state["products"]
    slopes = y - products - full.intercept
    starts = np.array([restored(coef, *box, slopes, with_bias) for box in boxes])
    changes = starts - coef
    changed = np.flatnonzero(changes.any(axis=0))
    responses = np.repeat(products[None, :], len(boxes), axis=0)
    rows.add_products(changed, changes[:, changed].T, responses)
    return [
        Solution(start, full.intercept, state={"products": own}) for start, own in zip(starts, responses, strict=True)
    ]


def dual_of(solution, y):
    """Return the dual objective sum_i y_i beta_i - 1/2 beta' K beta."""
    return float(solution.coef @ (y - 0.5 * solution.state["products"]))


def nearer(start, other, y):
    """Return the start with the larger dual objective; `other` may be None."""
    return start if other is None or dual_of(start, y) >= dual_of(other, y) else other
