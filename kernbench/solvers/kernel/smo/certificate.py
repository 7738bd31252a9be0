"""Whether a run may stop at a small violation of the optimality conditions, by the certified gap.

A violation v bounds the gap by v times the sum of the widths of the boxes that matter: negligible at the usual C, but
more than the objective itself where C, or the weight of a class, is so large that hardly any coefficient reaches its
bound. There the dual variables are nearly optimal while the primal function misses the margin by v, at a cost of C v
for each example. The multiple of the function and the intercept with the least objective correct that: a separating
function, for instance, is scaled up until no example is inside the margin.
"""

import numpy as np

from kernbench.problems.multiples import best_multiple
from kernbench.problems.nu_problem import NO_BETTER

MOST_GAP = 0.1  # share of the objective that the gap may be where rounding allows no smaller one
SAME_MARGIN = 1e-15  # share by which rounding may leave an example inside the margin


def is_certified(problem, state, intercept, share):
    """Return whether the gap is at most `share` of the sum of the magnitudes of the objective's two parts, or of that
    of the objective where it is negative by a level."""
    scores = state.scores()
    norm = 0.5 * problem.alpha * float(state.beta @ scores)
    loss = problem.loss_sum(scores, intercept) / problem.n
    gap = norm + loss - problem.alpha * state.dual()
    return gap <= share * (abs(norm) + loss if loss >= 0.0 else abs(norm + loss))


def is_zero(problem, state, intercept, violation, goal):
    """Return whether f = 0, with the objective 0, is as good as the optimum of a problem with a share nu, for all that
    can be decided from kernel values of their precision: the reduced convex hulls of the classes intersect."""
    if problem.lowest == 0.0:
        return False
    of_score = np.finfo(problem.rows.dtype).eps * problem.size() * float(state.diagonal.max())  # rounding of one
    if violation > max(NO_BETTER * goal, of_score):
        return False
    scores = state.scores()
    rounding = 0.5 * problem.alpha * problem.size() * of_score
    return problem.objective(scores, float(state.beta @ scores), intercept) >= -rounding


def rescaled(problem, state):
    """Return the state at the best multiple of beta inside the box, and the best intercept for it."""
    scores = state.scores()
    if not problem.has_multiples:
        return state, problem.best_intercept(scores)
    scale, _ = best_multiple(problem, scores, float(state.beta @ scores))
    used = state.beta != 0.0
    bound = np.where(state.beta > 0.0, state.upper, state.lower)
    scale = min(scale * (1.0 + SAME_MARGIN), (bound[used] / state.beta[used]).min(initial=np.inf))
    if not 0.0 < scale < np.inf:
        return state, problem.best_intercept(scores)
    beta = scale * state.beta
    moved = state.at(beta, state.linear - scale * scores - state.ridge * beta)
    return moved, problem.best_intercept(scale * scores)


def least_goal(state):
    """Return the violation caused by rounding in the gradient: no smaller one can be reached."""
    size = float(np.abs(state.linear).max())
    return np.finfo(float).eps * (size + float(np.abs(state.beta).max(initial=0.0) * state.diagonal.max()))
