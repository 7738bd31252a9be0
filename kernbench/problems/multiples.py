"""The best multiple of a function in the objective of a margin problem, with the best intercept for it."""

import numpy as np
from scipy.optimize import brentq

from kernbench.losses.margin import Hinge
from kernbench.losses.regression import ResidualLoss
from kernbench.problems.slack_budget import best_scale

NEWTON_STEPS = 100
EXACT = 1e-13  # stop after a Newton step with this relative decrease
FLAT = 1e-14  # relative ridge, for a singular Hessian: that of b when no squared hinge is active


def best_multiple(problem, responses, squared_norm):
    """Return the s >= 0 and b that minimise alpha/2 s^2 r2 + (1/n) sum_i w_i l(y_i (s f_i + b)).

    Hinge: exact, see `slack_budget.best_scale`. Losses of residuals: the zero of the slope in s. Else Newton's method
    on a convex function of two variables, from s = 0 or 1, whichever has the lower objective.

    Parameters
    ----------
    problem : MarginProblem
    responses : ndarray of shape (n,)
        f(x_i).
    squared_norm : float
        r2 = ||f||^2.

    Returns
    -------
    s, b : float
        s is 0.0 if no positive multiple lowers the objective; b is 0.0 without an intercept. With one and a loss of
        residuals that has kinks s is nearly the best.
    """
    y, weights, loss = problem.y, problem.weights, problem.loss
    if loss is Hinge:
        return best_scale(
            y * responses, squared_norm, y, weights, alpha=problem.alpha, fit_intercept=problem.fit_intercept
        )
    if isinstance(loss, ResidualLoss):
        s = _best_multiple_of_residuals(problem, responses, squared_norm)
        return s, problem.best_intercept(s * responses)
    size = np.abs(responses).max()
    if size == 0.0 or squared_norm <= 0.0:
        return 0.0, problem.best_intercept(np.zeros_like(responses))
    # In units of the largest response, so that both unknowns are of order one.
    columns = np.stack([y * responses / size, y] if problem.fit_intercept else [y * responses / size])
    ridge = np.zeros((len(columns), len(columns)))
    ridge[0, 0] = problem.alpha * squared_norm / size**2
    share = weights / problem.n

    def value(z):
        return 0.5 * z @ ridge @ z + share @ loss.value(z @ columns)

    def gradient(z):
        return ridge @ z + columns @ (share * loss.slope(z @ columns))

    def hessian(z):
        return ridge + (columns * (share * loss.curvature(z @ columns))) @ columns.T

    start = np.zeros(len(columns))
    one = start.copy()
    one[0] = size
    s = float(_minimised(value, gradient, hessian, min((start, one), key=value))[0]) / size
    if s <= 0.0:
        return 0.0, problem.best_intercept(np.zeros_like(responses))
    return s, problem.best_intercept(s * responses)


def useful_multiple(problem, responses, squared_norm):
    """Return the multiple of f to start a run of small steps from: 1, or the best one if f = 0 has a lower objective.

    The solution for a C a thousand times as large, say, or for targets in another unit, would take thousands of steps
    to shrink.

    Parameters
    ----------
    problem, responses, squared_norm : see `best_multiple`
    """
    objective = problem.objective(responses, squared_norm, problem.best_intercept(responses))
    return 1.0 if objective <= problem.at_zero[0] else best_multiple(problem, responses, squared_norm)[0]


def _best_multiple_of_residuals(problem, responses, squared_norm):
    def slope(s):
        slopes = problem.loss.slope(s * responses + problem.best_intercept(s * responses) - problem.targets)
        return problem.alpha * s * squared_norm + (problem.weights * responses) @ slopes / problem.n

    if not squared_norm > 0.0 or slope(0.0) >= 0.0:
        return 0.0
    low, high = 0.0, 1.0
    while slope(high) < 0.0 and np.isfinite(high):
        low, high = high, 2.0 * high
    while low == 0.0 and 0.5 * high > 0.0:  # of targets of 1e-200, say: bisection from 1 would take as many steps
        low, high = (0.5 * high, high) if slope(0.5 * high) < 0.0 else (0.0, 0.5 * high)
    if not 0.0 < high < np.inf:
        return low
    return float(brentq(slope, low, high, xtol=1e-300, rtol=1e-15, maxiter=1000))


def _minimised(value, gradient, hessian, z):
    """Minimise a smooth convex function of few variables by Newton steps with backtracking."""
    for _ in range(NEWTON_STEPS):
        now, slope, bend = value(z), gradient(z), hessian(z)
        step = -np.linalg.solve(bend + FLAT * max(1.0, np.trace(bend)) * np.eye(len(z)), slope)
        expected = -slope @ step
        if expected <= EXACT * abs(now):  # quadratic convergence: this step is the last
            return z + step
        length = 1.0
        while value(z + length * step) > now - 1e-4 * length * expected and length > EXACT:
            length /= 2
        z = z + length * step
    return z
