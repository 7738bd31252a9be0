"""The gap at the end of SMO, and the multiple of a solution that makes it small where C is very large."""

import numpy as np

from kernbench.problems.kernel.expansion import best_multiple

MOST_GAP = 0.1  # share of the objective that the gap may be where rounding allows no smaller one
NO_BETTER = 1e-3  # share of the tolerance below which a violation shows that nothing is better than f = 0
SAME_MARGIN = 1e-15  # share by which rounding may leave an example inside the margin


def is_certified(problem, beta, scores, intercept, dual, share):
    """Return whether the gap is at most `share` of the sum of the magnitudes of the primal objective's two parts, or of
    that of the objective where it is negative by a level."""
    norm = 0.5 * problem.alpha * (beta @ scores)
    loss = problem.loss_sum(scores, intercept) / problem.n
    gap = norm + loss - problem.alpha * dual
    return bool(gap <= share * (abs(norm) + loss if loss >= 0.0 else abs(norm + loss)))


def is_zero(problem, beta, diagonal, scores, intercept, violation, goal):
    """Return whether f = 0, with the objective 0, is as good as the optimum of a problem with a share nu, for all that
    can be told from kernel values of their precision: the convex hulls of the classes, reduced by nu, intersect."""
    if problem.lowest == 0.0:
        return False
    of_score = np.finfo(problem.rows.dtype).eps * problem.size() * float(diagonal.max())  # rounding of one
    if violation > max(NO_BETTER * goal, of_score):
        return False
    rounding = 0.5 * problem.alpha * problem.size() * of_score
    return bool(problem.objective(scores, float(beta @ scores), intercept) >= -rounding)


def best_scale(problem, beta, scores, lower, upper):
    """Return the s, and the intercept, of least primal objective for s beta inside the box."""
    if not problem.has_multiples:
        return 1.0, problem.best_intercept(scores)
    scale, _ = best_multiple(problem, scores, beta @ scores)
    used = beta != 0
    bound = np.where(beta > 0, upper, lower)
    scale = min(scale * (1 + SAME_MARGIN), (bound[used] / beta[used]).min(initial=np.inf))
    scale = scale if 0 < scale < np.inf else 1.0
    return scale, problem.best_intercept(scale * scores)


def least_goal(linear, beta, diagonal):
    """Return the violation caused by rounding in the gradient: no smaller one can be reached."""
    return np.finfo(float).eps * (np.abs(linear).max() + np.abs(beta).max(initial=0.0) * diagonal.max())
