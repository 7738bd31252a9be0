"""Leave-one-out from the fit to all rows, where each fold holds out one row.

A row with the coefficient 0 may be left out without a change: the conditions of the fold's optimum are among those of
the optimum for all rows. So only the others are solved, jointly, from the solution for all rows less one.

Where only the sign of the held-out decision value is needed, a fold ends as soon as the sign is settled: when the
`decision_band` of the exact minimisers lies on one side of zero, at a distance of more than `tol` (compare Franc,
Laskov and Mueller, ICML 2008). No band holds for a kernel that is not positive semi-definite.
"""

from functools import partial
from time import perf_counter

import numpy as np

from kernbench.estimators.search.bands import decision_band
from kernbench.estimators.search.starts import box_of, without_rows

AT_ONCE = 128  # folds that are solved jointly: bounds memory
NEARLY = 2.0  # a sign is not yet settled where the band without the uncertainty of b, times this, reaches zero


def leaves_one_out(kernel):
    """Return whether `fit_left_out` may solve the folds of a `OneKernel`: each holds out one row, and the others keep
    their weights (with ``class_weight="balanced"`` they do not); `max_iter` would count other steps."""
    if kernel.loss != "hinge" or kernel.model.max_iter != -1 or any(len(fold.test) != 1 for fold in kernel.folds):
        return False
    return all(
        np.array_equal(np.delete(own, fold.test), np.delete(kernel.weights, fold.test))
        for fold, own in zip(kernel.folds, kernel.fold_weights, strict=True)
    )


def fit_left_out(kernel, k, C, cell):
    """Add the decision values of a pair of classes to `cell`, which has its solution for all rows.

    Parameters
    ----------
    kernel : OneKernel
    k : int
        Number of the pair.
    C : float
    cell : Cell
    """
    begin, full = perf_counter(), cell.solutions[k]
    held_out = np.array([fold.test[0] for fold in kernel.folds])
    cell.values[held_out, k] = full.state["products"][held_out] + full.intercept
    cell.of_folds.append([full] * len(held_out))
    used = np.flatnonzero(full.coef[held_out])
    signs_only = kernel.signs_only and not kernel.is_indefinite(kernel.pairs[k], C, full)
    for first in range(0, len(used), AT_ONCE):
        _fit_some(kernel, k, C, cell, used[first : first + AT_ONCE], signs_only)
    cell.seconds += (perf_counter() - begin) / len(held_out)


def _fit_some(kernel, k, C, cell, which, signs_only):
    pair, full = kernel.pairs[k], cell.solutions[k]
    held_out = [int(kernel.folds[j].test[0]) for j in which]
    weights = [kernel.weights_of_pair(pair, j) for j in which]
    boxes = [box_of(pair.y, own, C) for own in weights]
    starts = without_rows(kernel.rows, full, pair.y, boxes, kernel.model.fit_intercept)
    is_settled = None
    if signs_only:
        is_settled = partial(_is_settled, kernel, pair.y, C, weights, held_out, kernel.squared_norms())
    joint = kernel.run_jointly(starts, pair, C, weights, is_settled)
    for j, row, own, solution, settled in zip(which, held_out, weights, joint.solutions(), joint.settled, strict=True):
        if not settled:
            solution = kernel.solve(pair, C, own, solution, cell).solution
        cell.of_folds[k][j] = solution
        cell.values[row, k] = solution.state["products"][row] + solution.intercept


def _is_settled(kernel, y, C, weights, held_out, diagonal, q, state):
    """Return whether the exact minimisers of problem q have one sign on its held-out row."""
    row, costs, scores, tol = held_out[q], C * weights[q], state.scores(), kernel.model.tol
    b = state.intercept() if kernel.model.fit_intercept else 0.0
    value, beta = abs(scores[row] + b), state.beta
    gap = float(beta @ scores + costs @ np.maximum(0.0, 1.0 - y * (scores + b)) - beta @ y)
    if value <= tol + NEARLY * np.sqrt(max(gap, 0.0) * diagonal[row]):  # the band takes a sort
        return False
    lower, upper = decision_band(y, costs, beta, scores, diagonal, kernel.model.fit_intercept)
    return bool(lower[row] > tol or upper[row] < -tol)
