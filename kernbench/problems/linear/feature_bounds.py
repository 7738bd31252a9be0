"""Certified gaps of linear solvers that keep no dual variables, from dual variables computed at the margins of w.

At the optimum a_i = -l'(m_i) and w = (1/(alpha n)) sum_i w_i a_i y_i x_i. For a smooth loss the slopes at the
margins of a w near the optimum are near the optimal a. Those of the hinge jump at m = 1, where the optimal
a_i of the examples on the margin lie between 0 and 1: slopes smoothed over a band of margins replace
them. Each a in the domain of psi gives a lower bound on the optimum (see `losses.margin`); the best of several is
taken. Losses of residuals with kinks are smoothed in the same way; a pass of dual coordinate ascent from the best of
these a brings the bound several times closer.
"""

from types import SimpleNamespace

import numpy as np

from kernbench.losses.duality import best_multiple, unit_of
from kernbench.losses.margin import Hinge
from kernbench.losses.regression import ResidualLoss

BANDS = (0.01, 0.05, 0.2, 0.5)  # half widths of the band in which the hinge's slope is smoothed
RESIDUAL_BANDS = (0.05, 0.2, 0.5, 1.0)  # the same around a kink of a residual, in mean sizes of residuals


def certificate(problem, coef, *known, ascent=None):
    """Return the objective at w and a bound on its distance to the optimum; takes a few passes over the data.

    Parameters
    ----------
    problem : LinearProblem
    coef : ndarray of shape (d,)
        w.
    *known : ndarray of shape (n,)
        More dual variables to try, clipped to their domain.
    ascent : class, optional
        A solver by dual coordinate ascent, for losses of residuals with kinks.

    Returns
    -------
    objective : float
    gap : float
        At least 0.

    Raises
    ------
    ValueError
        If the scores overflow.
    """
    scores = problem.design.scores(coef)
    objective = problem.primal(coef, scores)
    if not np.isfinite(objective):
        raise ValueError("scores are not finite, or too large to compute with: scale the features, or raise alpha")
    tries = [*known, *dual_variables_at(problem.y * scores - problem.targets, problem.weights, problem.loss)]
    bounds = [lower_bound(problem, a) for a in tries]
    if ascent is not None and isinstance(problem.loss, ResidualLoss) and not np.isfinite(problem.loss.smoothness):
        bounds.append(_after_a_pass(problem, tries[int(np.argmax(bounds))], ascent))
    return objective, max(0.0, objective - max(bounds))


def _after_a_pass(problem, a, ascent):
    """Return the dual objective after a pass of dual coordinate ascent; its order is always the same."""
    state = {"a": a, "settings": np.zeros(0)}
    start = SimpleNamespace(coef=np.zeros(problem.design.n_coef), n_iter=0, state=state)
    solver = ascent(
        problem.design, problem.targets, alpha=problem.alpha, weights=problem.weights, loss=problem.loss, tol=0.0,
        shrinking=False, random_state=0, initial=start,
    )  # fmt: skip
    solver.advance(int(np.count_nonzero(problem.weights)))
    return solver.dual_objective()


def dual_variables_at(z, weights, loss):
    """Return a list of dual variables, arrays of shape (n,), computed from margins or residuals."""
    if np.isfinite(loss.smoothness):
        return [-loss.slope(z)]
    if loss is Hinge:
        return [np.clip(0.5 + (1.0 - z) / (2.0 * band), 0.0, 1.0) for band in BANDS]
    # Minus the mean slope over [z - h, z + h].
    widths = np.array(RESIDUAL_BANDS) * max(float(np.abs(z[weights > 0]).mean()), np.finfo(np.float64).tiny)
    return [(loss.value(z - h) - loss.value(z + h)) / (2.0 * h) for h in widths]


def lower_bound(problem, a):
    """Return the largest D(theta a), theta a in the domain, after clipping `a` to it; at least 0."""
    weights, loss, n = problem.weights, problem.loss, problem.n
    a = np.where(weights > 0, np.clip(a, loss.lower, loss.upper), 0.0)
    if not a.any():
        return 0.0
    a = a / unit_of(a, loss)
    element = problem.design.combine(weights * problem.y * a)
    return best_multiple(a, weights, element @ element / (problem.alpha * n**2), n, loss, problem.targets)


def absolute_products(design, rows, weights):
    """Return sum_j w_j |<x_i, x_j>| over a few rows, for each of them.

    Parameters
    ----------
    design : FeatureDesign
    rows : ndarray of shape (m,), int
    weights : ndarray of shape (n,)

    Returns
    -------
    ndarray of shape (m,)
    """
    X = design.X[rows].astype(np.float64, copy=False)
    return abs(X @ X.T) @ weights[rows]


def squared_norms(design):
    """Return |x_i|^2 for all samples of a design of features.

    Raises
    ------
    ValueError
        If one overflows.
    """
    X = design.X
    with np.errstate(over="ignore", invalid="ignore"):
        if hasattr(X, "indptr"):
            rows = np.repeat(np.arange(design.n_samples), np.diff(X.indptr))
            squares = np.square(X.data, dtype=np.float64)
            norms = np.bincount(rows, squares, design.n_samples).astype(np.float64)  # of no entries it is one of int
        else:
            norms = np.einsum("ij,ij->i", X, X, dtype=np.float64)
    if not np.all(np.isfinite(norms)):
        raise ValueError("features are not finite, or too large to compute with: scale them")
    return norms
