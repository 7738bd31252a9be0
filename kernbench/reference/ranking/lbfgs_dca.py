"""Values, gradients and steps of exact DCA: the core of `solvers.ranking.lbfgs_dca`."""

import numpy as np

from kernbench.reference.bundle import cutting_planes, limited_memory
from kernbench.reference.ranking.ranked_risk import RankedRisk

__all__ = [
    "RankedRisk", "cutting_planes", "differentiate", "limited_memory", "line_search", "linearise", "newton_direction",
    "value_along", "value_at",
]  # fmt: skip

EVALUATIONS = 40  # of a line search
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must bring
CURVATURE = 0.5  # share of the first slope that may be left at the end of a step


def value_at(problem, coef, scores, g):
    """Return the objective at a point; put the slopes of U - L in `g`, unless it is None."""
    value, slopes = problem.window(scores)
    if g is not None:
        g[:] = slopes
    return float(0.5 * problem.alpha * problem.design.inner(coef, coef, scores) + value)


def value_along(problem, t, coef, scores, step, moved, next_coef, next_scores):
    """Set the next point, t times the step away, and return the objective there."""
    return _value_along(problem, t, coef, scores, step, moved, next_coef, next_scores, None)


def _value_along(problem, t, coef, scores, step, moved, next_coef, next_scores, g):
    next_coef[:], next_scores[:] = coef + t * step, scores + t * moved
    return value_at(problem, next_coef, next_scores, g)


def differentiate(problem, coef, g, gradient, gradient_scores):
    """Set the gradient and, where there is a kernel, its scores; return its squared norm."""
    design = problem.design
    gradient[:] = design.combine(g) + problem.alpha * coef
    if design.is_kernel:
        gradient_scores[:] = design.scores(gradient)
    return float(design.inner(gradient, gradient, gradient_scores))


def newton_direction(convex, preconditioner, g, step, moved):
    """Set the step to that of Newton's method from f = 0 for a convex problem, and `moved` to its scores.

    `g` is working memory.
    """
    moved[:] = 0.0
    step[:] = -convex.design.combine(convex.risk(moved)[1])
    if preconditioner is not None:
        g[:] = convex.density(moved)
        preconditioner.fit(g)
        step[:] = preconditioner.solve(step)
    moved[:] = convex.design.scores(step)


def line_search(problem, value, gradient, coef, scores, step, moved, next_coef, next_scores, g):
    """Return a length of the step at which the objective has fallen enough and become flatter (weak Wolfe conditions).

    It is found by bisection. Where the objective is concave or has kinks the second condition may fail for all lengths
    tried: the longest of those that bring enough is taken then. The next point lies there, and `g` holds its slopes; 0
    if there is none. `moved` is set to the scores of the step.
    """
    moved[:] = problem.design.scores(step)
    slope = problem.design.inner(gradient, step, moved)
    if slope >= 0:
        return 0.0
    line = coef, scores, step, moved, next_coef, next_scores, g
    shrink = problem.alpha * problem.design.inner(coef, step, moved)
    curvature = problem.alpha * problem.design.inner(step, step, moved)
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(EVALUATIONS):
        here = _value_along(problem, t, *line)
        if not here <= value + SUFFICIENT * t * slope:
            high = t
        elif shrink + t * curvature + g @ moved < CURVATURE * slope:
            low = t
        else:
            return t
        t = 2.0 * low if high == np.inf else 0.5 * (low + high)
    if low > 0:
        _value_along(problem, low, *line)
    return low


def linearise(risk, scores, change):
    """Linearise the lower part again; return U - L there, and the change of the constant of the linear part, whose
    slopes change by `change`."""
    slopes, constant = risk.slopes, risk.constant
    value = float(risk.linearise(scores)[0])
    change[:] = slopes - risk.slopes
    return value, float(risk.constant - constant)
