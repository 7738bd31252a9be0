"""Steps along subgradients of the objective of pairs: the core of `solvers.ranking.descent`."""

import numpy as np

from kernbench.reference.ranking.problem import PairwiseRisk

__all__ = ["PairwiseRisk", "adamax_steps", "gradient_steps", "objective_at"]

ROUNDING = 2.0**-52  # relative error of each term of a sum


def gradient_steps(problem, n_iter, rate, x, scores, mean, best_coef, history, progress, counts):
    """Do `n_iter` steps of gradient descent; return how many were done, fewer where the risk is not finite."""
    for done in range(n_iter):
        element, slopes = _subgradient(problem, x, scores, best_coef, history, progress, counts)
        if element is None:
            return done
        x -= rate * element
        if problem.design.is_kernel:  # the slopes are the scores of the step
            scores -= rate * slopes
        else:
            scores[:] = problem.design.scores(x)
        _add_to_mean(x, mean, counts)
    return n_iter


def adamax_steps(
    problem, n_iter, rate, beta_1, beta_2, x, scores, mean, best_coef, history, progress, counts, momentum, largest
):
    """Do `n_iter` steps of Adamax; return how many were done, fewer where the risk is not finite."""
    for done in range(n_iter):
        element, slopes = _subgradient(problem, x, scores, best_coef, history, progress, counts)
        if element is None:
            return done
        momentum[:] = beta_1 * momentum + (1 - beta_1) * slopes
        largest[:] = np.maximum(beta_2 * largest, np.abs(slopes))
        moved = np.divide(momentum, largest, out=np.zeros_like(slopes), where=largest > 0)
        x -= rate / (1 - beta_1 ** counts[0]) * moved
        scores[:] = problem.design.scores(x)
        _add_to_mean(x, mean, counts)
    return n_iter


def objective_at(problem, coef, scores):
    """Return the objective of coefficients with these scores."""
    return float(0.5 * problem.alpha * problem.design.inner(coef, coef, scores) + problem.risk(scores)[0])


def _subgradient(problem, x, scores, best_coef, history, progress, counts):
    """Compare the iterate with the best one; return the subgradient as an element of H, and in the coefficients; or
    None twice where the risk is not finite."""
    risk, g = problem.risk(scores) if np.all(np.isfinite(scores)) else (np.inf, None)
    if not np.isfinite(risk):
        return None, None
    objective = 0.5 * problem.alpha * problem.design.inner(x, x, scores) + risk
    if objective < progress[0]:
        progress[0], best_coef[:] = objective, x
    element = problem.design.combine(g) + problem.alpha * x
    slopes = problem.design.scores(element) if problem.design.is_kernel else element
    # The objective is alpha-strongly convex, so no point is better than this, less what rounding may add. Where the
    # iterates leave for a while, it is the difference of two large numbers and useless.
    drop = element @ slopes / (2 * problem.alpha)
    if objective <= 2 * problem.at_zero:
        rounding = ROUNDING * (problem.n + len(x)) * (objective + drop)
        progress[1] = max(progress[1], objective - drop - rounding)
    counts[0] += 1
    history[counts[0] % len(history)] = progress[0]
    return element, slopes


def _add_to_mean(x, mean, counts):
    """The mean of the iterates since the last power of two is that of the tail, however long the run."""
    first = 1 << (int(counts[0]).bit_length() - 1)
    mean += (x - mean) / (counts[0] - first + 1)
