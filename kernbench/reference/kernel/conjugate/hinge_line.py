"""The regularised hinge loss along a direction, and line searches.

F(t) = min over b of lambda/2 ||f + t d||^2 + share/n sum_i w_i max(0, 1 - y_i (u_i + t v_i + b)), with u and
v the values of f and d at the sample; b = 0 without an intercept. F is convex: a minimum over b of a jointly
convex function.
"""

import numpy as np

from kernbench.problems.intercept import best_intercept
from kernbench.problems.kernel.newton import NOT_DEFINITE
from kernbench.solvers.base import Diverged

# A margin this near to 1 counts as being at the kink of the hinge: in the search, and in the subgradient at its end.
# The second is wider, so that a search that ends at a kink ends well inside.
SEARCH_KINK = 1e-13
KINK = 1e-10
HALVINGS = 60
ROOM = 1.0 + 1e-9  # doubling and halving return to the ends of the range up to rounding
# The bracket of Wolfe's search is halved down to `SHORTEST`, or to this share of the longest useful step if that is
# less. By strong convexity the latter is about length^2 / (alpha ||d||^2), which has the unit of t. A first step of 1
# that is a smaller share than `SHORTEST` would be lost in rounding.
SHORTEST, OF_LONGEST = 1e-12, 1e-6
FARTHEST = 2.0**40  # largest change of a response at the end of a bracket: its halvings then reach 2^-20 of a margin


def active_part(y, weights, responses, intercept, fit_intercept, heading=None, kink=KINK):
    """Return a in [0, 1], minus the slopes of the losses: 1 below the margin, 0 above it.

    At the kink every number in between is possible. Those with the largest slope in the direction with values
    `heading`, 0 by default, are taken: it is the one-sided slope, so that after a null step the subgradient is a new
    one. With an intercept they must satisfy sum_i w_i y_i a_i = 0: then the derivative with respect to the best
    intercept is 0, and a gives a subgradient of the minimum over it.
    """
    # One number for both conditions: searches end at the ends of a kink, where 1 - kink rounds to either side.
    room = 1.0 - y * (responses + intercept)
    active = (room > kink).astype(np.float64)
    tied = np.flatnonzero(np.abs(room) <= kink)
    heading = np.zeros(len(y)) if heading is None else heading
    if not fit_intercept:
        active[tied[y[tied] * heading[tied] < 0]] = 1.0
    elif len(tied):
        split_ties(y, weights, heading, tied, active)
    return active


def split_ties(y, weights, heading, tied, active):
    """Set a at the kink to maximise -sum_i w_i y_i a_i v_i, v being `heading`, subject to sum_i w_i y_i a_i = 0.

    y_i a_i is e_i for positives and e_i - 1 for negatives, e_i in [0, 1], so that sum_i w_i e_i over the ties is known:
    a knapsack, filled in ascending order of v. Ties of equal v share alike, all of them if there is no direction yet.
    """
    left = weights[tied[y[tied] < 0]].sum() - (weights * y) @ active
    order = tied[np.argsort(heading[tied], kind="stable")]
    for group in np.split(order, np.flatnonzero(np.diff(heading[order])) + 1):
        mass = weights[group].sum()
        share = min(1.0, max(0.0, left / mass)) if mass > 0.0 else 0.0
        active[group] = np.where(y[group] > 0, share, 1.0 - share)
        left -= mass


class Line:
    """F and its slope along a direction.

    Parameters
    ----------
    y, weights : ndarray of shape (n,)
    alpha, share : float
        lambda, and the factor of the mean loss.
    fit_intercept : bool
    u, v : ndarray of shape (n,)
        Values of f and of the direction.
    q : tuple of float
        ||f||^2, <f, d>, ||d||^2 in the space of the kernel.
    """

    def __init__(self, y, weights, alpha, share, fit_intercept, u, v, q):
        self.y, self.weights, self.alpha, self.share = y, weights, alpha, share / len(y)
        self.fit_intercept, self.u, self.v, self.q = fit_intercept, u, v, q

    def intercept(self, t):
        return best_intercept(self.u + t * self.v, self.y, self.weights) if self.fit_intercept else 0.0

    def value(self, t):
        q0, q1, q2 = self.q
        margins = self.y * (self.u + t * self.v + self.intercept(t))
        loss = self.weights @ np.maximum(0.0, 1.0 - margins)
        return float(0.5 * self.alpha * (q0 + 2 * t * q1 + t * t * q2) + self.share * loss)

    def slope(self, t):
        _, q1, q2 = self.q
        responses, intercept = self.u + t * self.v, self.intercept(t)
        # Without an intercept a tie counts as above the margin: a search may end on either side of it.
        heading = self.v if self.fit_intercept else None
        active = active_part(self.y, self.weights, responses, intercept, self.fit_intercept, heading, SEARCH_KINK)
        return float(self.alpha * (q1 + t * q2) - self.share * (self.weights * self.y * active) @ self.v)


def first_step(line, high):
    """Return `high`, or a step that moves no response by more than 1 if `high` moves one by more than `FARTHEST`.

    Values of the kernel may be so large that the minimiser is a tiny share of `high`. Then halvings from there have few
    digits left, or none. This step is a power of 2.
    """
    largest = float(np.abs(line.v).max())
    if not (float(high) * largest > FARTHEST and largest < np.inf):
        return high
    return float(np.ldexp(1.0, -np.frexp(largest)[1]))


def exact_search(line, high=None):
    """Return the t that minimises F on [0, high], by halving the bracket in which its slope changes sign.

    F is a strongly convex piecewise parabola, so the slope grows, and after `HALVINGS` halvings the bracket has no
    width left. Without `high` there is no limit; `Diverged` is raised where there is no minimum, as with a kernel that
    is not positive semi-definite.
    """
    limit = np.inf if high is None else high
    high = first_step(line, 1.0 if high is None else high)
    while (slope := line.slope(high)) < 0.0 and high < limit:
        high = min(2.0 * high, limit)
        if high == np.inf:
            raise Diverged(NOT_DEFINITE)
    if high == limit and slope <= 0.0:
        return limit
    if line.slope(0.0) >= 0.0:
        return 0.0
    low = 0.0
    for _ in range(HALVINGS):
        t = 0.5 * (low + high)
        if line.slope(t) < 0.0:
            low = t
        else:
            high = t
    return high


def bracket_search(line, length, radius, n, c1, c2):
    """Return a t with t * length <= radius that decreases F enough and reaches a flatter slope, or 0: a null step.

    L(t): F(t) - F(0) <= -c1 length^2 t, far enough down; R(t): F'(t) >= -c2 length^2, flat enough. c1 < c2,
    so that every t > 0 is in one of them, and doubling and halving find a t in both.
    """
    start, square = line.value(0.0), length**2

    def down(t):
        return line.value(t) - start <= -c1 * square * t

    def flat(t):
        return line.slope(t) >= -c2 * square

    shortest = radius / n
    t = max(shortest, 0.5 * radius) / length
    if down(t):
        if flat(t):
            return t
        while not flat(t):
            t *= 2.0
            if t * length > ROOM * radius:
                return 0.5 * t
        if down(t):
            return t
        low, high = 0.5 * t, t
    else:
        while not down(t):
            t *= 0.5
            if ROOM * t * length < shortest:
                return 0.0
        if flat(t):
            return t
        low, high = t, 2.0 * t
    for _ in range(HALVINGS):  # low is in L, high is not, so high is in R
        t = 0.5 * (low + high)
        if down(t):
            if flat(t):
                return t
            low = t
        else:
            high = t
    return low


@np.errstate(over="ignore", invalid="ignore")  # of steps that double without end
def wolfe_search(line, length, c1, c2):
    """Do the same without a radius, from t = 1 or a longer step: return a t in both sets, or None once the bracket is
    down to rounding. `Diverged` is raised where there is no minimum, as in `exact_search`."""
    start, square = line.value(0.0), length**2
    low, high, t, shortest, curvature = 0.0, np.inf, 1.0, SHORTEST * first_step(line, 1.0), line.alpha * line.q[2]
    if curvature > 0.0 and square / curvature < np.inf:
        shortest, t = min(shortest, OF_LONGEST * square / curvature), max(t, SHORTEST * square / curvature)
    while high - low > shortest and t not in (low, high):
        if line.value(t) - start > -c1 * square * t:
            high = t
        elif line.slope(t) < -c2 * square:
            low = t
        else:
            return t
        t = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
        if t == np.inf:
            raise Diverged(NOT_DEFINITE)
    return None
