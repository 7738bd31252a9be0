"""The slack budget of a regularised problem, and the scale and intercept of a direction.

The batch perceptron solves the slack-constrained problem (S) by a direction. Its scale and intercept, and the slack
budget at which (S) has the minimiser of the regularised problem (R), can be computed exactly.
"""

import numpy as np

from kernbench.problems.intercept import best_intercept
from kernbench.problems.water_level import paired_heights

FIRST_RETUNE = 32  # first step after which the budget is recomputed from the average; then after a quarter more each


def best_scale(heights, squared_norm, y, weights, *, alpha, fit_intercept):
    """Return the s >= 0 and b that minimise alpha/2 s^2 r2 + (1/n) sum_i w_i max(0, 1 - s c_i - y_i b).

    With the best b for each s, the problem with an intercept is the one without, over the paired heights of
    the two classes (see `water_level.paired_heights`). The derivative in s then is

        alpha r2 s - (1/n) sum_{s c_i < 1} w_i c_i,

    which grows with s and jumps up at 1/c_i: its zero is found among the sorted breakpoints.

    Parameters
    ----------
    heights : ndarray of shape (n,)
        c_i = y_i f(x_i) of the direction f.
    squared_norm : float
        r2 = ||f||^2.
    y, weights : ndarray of shape (n,)
    alpha : float
    fit_intercept : bool
        Without it b = 0.

    Returns
    -------
    s : float
        0.0 if no positive multiple of the direction lowers the objective.
    b : float
    """
    curvature = alpha * len(y) * squared_norm
    levels, masses = paired_heights(heights, weights, y) if fit_intercept else (heights, weights)
    s = _zero_of_slope(levels, masses, curvature)
    b = best_intercept(s * y * heights, y, weights) if fit_intercept else 0.0
    return s, b


def _zero_of_slope(heights, masses, curvature):
    """Return the smallest s >= 0 right of which curvature s - sum_{s c_i < 1} m_i c_i is >= 0."""
    pull = masses @ heights
    if pull <= 0 or curvature <= 0:
        return 0.0
    rising = heights > 0
    order = np.argsort(-heights[rising], kind="stable")
    with np.errstate(over="ignore"):
        breakpoints = 1.0 / heights[rising][order]
    left = pull - np.concatenate([[0.0], np.cumsum((masses * heights)[rising][order])])  # after k breakpoints
    ends = np.append(breakpoints, np.inf)
    k = np.argmax(curvature * ends >= left)  # the first piece that ends at a slope of at least 0
    start = breakpoints[k - 1] if k > 0 else 0.0
    return float(max(start, left[k] / curvature))


def tuned_volume(loss, scale, dual_sum, squared_norm, regularisation):
    """Return an estimate of the volume V = W nu at which (S) has the minimiser of the regularised objective (R).

    If u = s f minimises (R), where f = sum_i alpha_i y_i k(x_i, .) has norm r, two things hold:

        V = sum_i w_i hinge_i / (s r)                       (Lemma 2.1, ||u|| = s r)
        V = alpha n (sum_i alpha_i - s r^2) / r             (primal objective = dual objective)

    The first alone is not enough. Examples on the margin make a kink, at which the best s stays while alpha
    changes; then *every* V near the right one may satisfy it. There the second is V times alpha / alpha(V),
    alpha(V) being the regularisation whose minimiser solves (S) at V: its sign is right, but noise in the
    coefficients makes it inaccurate where alpha(V) is steep. Hence the geometric mean of the two, with the second
    clipped to within a factor of two of the first. (At the optimum, these are `nu_of_solution` and
    `C_of_solution`.)

    Parameters
    ----------
    loss : float
        sum_i w_i hinge_i of s f, at the best s and b.
    scale : float
        s > 0.
    dual_sum : float
        sum_i alpha_i of the direction f.
    squared_norm : float
        r^2 = ||f||^2, at most 1 (an average of functions of norm 1 is shorter).
    regularisation : float
        alpha n.
    """
    primal = loss / scale
    dual = regularisation * (dual_sum - scale * squared_norm)
    if primal == 0:
        volume = max(0.0, dual)  # a geometric mean would stay at 0
    else:
        volume = primal * np.sqrt(np.clip(dual / primal, 0.5, 2.0))
    return float(volume / np.sqrt(squared_norm))


def nu_of_solution(margins, squared_norm, weights=None):
    """Return the slack budget at which the slack-constrained problem has the optimum u of a regularised one.

    nu = L(u) / ||u|| with L the mean hinge loss (Lemma 2.1); the value of that problem is 1 / ||u||.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        y_i (u(x_i) + b).
    squared_norm : float
        ||u||^2.
    weights : ndarray of shape (n,), optional
        Ones by default.

    Returns
    -------
    float
        0.0 for u = 0 without slack; infinite for u = 0 otherwise.
    """
    slack, total = _slack(margins, weights)
    if slack == 0:
        return 0.0
    return float(slack / (total * np.sqrt(squared_norm))) if squared_norm > 0 else np.inf


def C_of_solution(coef_sum, margins, squared_norm, weights=None):
    """Return the C = 1 / (alpha n) whose problem u solves, the scaled optimum of a slack-constrained one.

    At the optimum the primal objective alpha/2 ||u||^2 + (1/n) sum_i w_i hinge_i equals the dual one,
    alpha (sum_i |coef_i| - 1/2 ||u||^2); so

        C = (sum_i |coef_i| - ||u||^2) / sum_i w_i hinge_i.

    Parameters
    ----------
    coef_sum : float
        sum_i |coef_i| of u = sum_i coef_i k(x_i, .), scaled to a smallest unslackened margin of 1.
    margins, squared_norm, weights
        See `nu_of_solution`.

    Returns
    -------
    float
        Infinite without slack.
    """
    slack, _ = _slack(margins, weights)
    return float((coef_sum - squared_norm) / slack) if slack > 0 else np.inf


def _slack(margins, weights):
    weights = np.ones(len(margins)) if weights is None else np.asarray(weights)
    return weights @ np.maximum(0.0, 1.0 - np.asarray(margins)), weights.sum()


def next_retune(t):
    """Return the first step after t at which the budget is recomputed: 32, 40, 50, each a quarter more."""
    step = FIRST_RETUNE
    while step <= t:
        step += max(1, step // 4)
    return step
