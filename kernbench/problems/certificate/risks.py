"""Mean losses of scores as certificates need them: values in extended precision, those of pairs in float64 with a bound
on its rounding, slopes, and dual bounds."""

import numpy as np

from kernbench.losses.duality import best_multiple, dual_variables, unit_of
from kernbench.losses.margin import LogLoss
from kernbench.losses.regression import ResidualLoss
from kernbench.pairs import AllPairs, DrawnPairs, _structural
from kernbench.pairs.moments import squared_loss_and_gradient
from kernbench.problems.certificate.extended import DOUBLE, LONG

STEEPEST = 40.0  # largest |psi'| of the logistic loss at dual variables that float64 can tell from 0 and 1


class MarginRisk:
    """(1/n) sum_i w_i l(z_i), z_i = s_i (f(x_i) + b) - t_i.

    Parameters
    ----------
    problem : MarginProblem
        A problem with a positive ``alpha``.
    """

    lowest = 0.0  # value of an objective

    def __init__(self, problem):
        self.problem, self.alpha, self.n = problem, problem.alpha, problem.n
        loss = problem.loss
        self.mass = float(problem.total_weight / problem.n)
        self.smoothness = loss.smoothness
        self.slope = steepest_slope(loss)
        # Bounds on sum_i |g_i| of dual variables, and on the sum of coefficients from which a bound may be computed.
        self.reach = self.mass * self.slope if np.isfinite(self.slope) else 4.0 * np.sqrt(self.at_zero()[0] * self.mass)
        self.dual_size = 0.0

    def at_zero(self):
        """Return the risk at f = 0 with the best intercept, and that intercept."""
        return self.problem.at_zero

    def negligible(self, tol, largest):
        """Return the gap that counts as 0 where the objective is 0: none, since other objectives are positive."""
        return 0.0

    def change(self, risk, error):
        """Return how much the risk may change from `risk` if each score changes by at most `error`."""
        return change_of(self.problem.loss, self.mass, risk, error)

    def _losses(self, rows, scores):
        p = self.problem
        return p.weights[rows] * p.loss.value(p.y[rows] * scores - np.broadcast_to(p.targets, self.n)[rows])

    def sensitive(self, scores, error):
        """Return the rows whose loss changes if their score does by `error`, up or down."""
        rows = np.arange(self.n)
        losses = self._losses(rows, scores)
        changes = [self._losses(rows, scores + side) != losses for side in (-error, error)]
        return np.flatnonzero(changes[0] | changes[1])

    def changes(self, rows, scores, errors):
        """Return the losses at scores less those at scores without these errors, of some rows."""
        return self._losses(rows, scores) - self._losses(rows, scores - errors)

    def value(self, scores, intercept):
        """Return the risk at scores in extended precision."""
        p = self.problem
        z = p.y * (scores + LONG(intercept)) - p.targets
        return (p.weights * p.loss.value(z)).sum() / self.n

    def rounding(self, value, scores):
        """Return a bound on the rounding of `value` beyond that of the scores: none, in extended precision."""
        return 0.0

    def lower_bounds(self, space, coef, scores, intercept, state):
        """Yield dual objectives, and the sum of |g_i| where f = (1/alpha) sum_i g_i k(x_i, .)."""
        p = self.problem
        candidates = []
        if space_is_expansion(space):
            candidates.append(coef)
        if "a" in state and np.shape(state["a"]) == (self.n,):
            candidates.append(p.y * p.weights * state["a"] / (p.alpha * p.n))
        if np.isfinite(self.smoothness) or not candidates:
            z = (p.y * (scores + LONG(intercept)) - p.targets).astype(np.float64)
            candidates.append(-p.y * p.weights * p.loss.slope(z) / (p.alpha * p.n))
        for beta in candidates:
            yield self._dual(space, np.asarray(beta, dtype=np.float64))

    def _dual(self, space, beta):
        p = self.problem
        a = dual_variables(p.y, beta, alpha=p.alpha, weights=p.weights, fit_intercept=p.fit_intercept, loss=p.loss)
        if not np.any(a):
            return 0.0, 0.0
        unit = unit_of(a, p.loss)
        g = p.weights.astype(LONG) * p.y * (a / unit)
        u = space.combine(g)
        scores = space.scores(u)
        quadratic = float(space.inner(u, scores) / (p.alpha * LONG(p.n) ** 2))
        bound = best_multiple(a / unit, p.weights, max(quadratic, 0.0), p.n, p.loss, p.targets)
        if p.fit_intercept:
            # The a that is balanced exactly, not only up to rounding, differs from this one by |sum_i g_i|.
            steepest = STEEPEST if p.loss is LogLoss else 1.0 + float(a.max())
            if isinstance(p.loss, ResidualLoss):
                steepest = float(np.abs(p.targets).max()) + p.loss.zone + p.loss.bend * float(np.abs(a).max())
            residual = unit * (float(abs(g.sum())) + np.finfo(float).eps * float(np.abs(g).max()))
            bound -= residual / p.n * (steepest + unit * float(np.abs(scores).max() / (p.alpha * p.n)))
        return float(bound), unit * float(np.abs(g).sum() / p.n)


def steepest_slope(loss):
    """Return the largest |l'|, which may be infinite."""
    return max(abs(loss.lower), abs(loss.upper))


def change_of(loss, mass, risk, error):
    """Return how much a mean loss may change from `risk` if each score changes by at most `error`.

    Parameters
    ----------
    loss : MarginLoss, ResidualLoss or NuLoss
    mass : float
        The mean of the weights.
    risk, error : float
    """
    slope = steepest_slope(loss)
    if np.isfinite(slope):
        return mass * slope * error
    square = loss.smoothness * mass * (error * error)  # a power of a Python float raises where it overflows
    return np.sqrt(2 * loss.smoothness * max(risk, 0.0) * mass) * error + 0.5 * square


def space_is_expansion(space):
    """Whether coefficients are those of kernel values."""
    return hasattr(space, "kernel")


class ScoresRisk:
    """A convex risk R >= 0 of differences of scores, such as a mean loss of pairs.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(scores)`` returns R and a subgradient g.
    alpha : float
    n : int
    reach : float
        Bound on sum_i |g_i|; with `smooth`, where R is at most that of f = 0.
    smooth : bool, default=False
        Whether the losses are squares of at most 1 - t for a difference t, else their slopes are bounded.
    """

    mass, smoothness, lowest = 1.0, 0.0, 0.0

    def __init__(self, evaluate, alpha, n, reach, *, smooth=False):
        self.evaluate, self.alpha, self.n, self.reach = evaluate, alpha, n, reach
        self.slope = np.inf if smooth else reach / 2.0
        self.zero = float(evaluate(np.zeros(n))[0])
        self.dual_size = 0.0

    def at_zero(self):
        return self.zero, 0.0

    def negligible(self, tol, largest):
        """Return the gap that counts as 0 where the objective is 0: none, since other objectives are positive."""
        return 0.0

    def change(self, risk, error):
        """Return the change of the risk, as for a margin: a difference of two scores."""
        if np.isfinite(self.slope):
            return 2.0 * self.slope * error
        return 4.0 * np.sqrt(max(risk, 0.0)) * error + 4.0 * error**2

    def value(self, scores, intercept):
        return self.evaluate(_centred(scores))[0]

    def rounding(self, value, scores):
        """Return a bound on the rounding of `value`, which is that of float64."""
        return self.change(value, _error_of(_centred(scores))) + self._error_of_sum(value)

    def _error_of_sum(self, value):
        return DOUBLE * (self.n + 8) * value

    def lower_bounds(self, space, coef, scores, intercept, state):
        points = _centred(scores)
        risk, slopes = self.evaluate(points)
        g = -slopes.astype(LONG)
        size = float(np.abs(g).sum())
        u = space.combine(g)
        of_u = space.scores(u) if space_is_expansion(space) else None
        # R(s) >= R(s0) - <g, s - s0>, and R >= 0: so theta times the former is a bound for theta in [0, 1].
        # R and g are those of points that differ from s0 by rounding.
        error = size * _error_of(points) + self._error_of_sum(risk)
        linear = float(risk + g @ scores) - error
        quadratic = float(space.inner(u, of_u) / self.alpha)
        theta = 0.0 if linear <= 0 else 1.0 if quadratic <= linear else linear / quadratic
        yield theta * linear - 0.5 * theta**2 * quadratic, theta * size


def _centred(scores):
    """Return scores in float64 less their median: differences count, and one score far away costs others no digits."""
    middle = len(scores) // 2
    return (scores - np.partition(scores, middle)[middle]).astype(np.float64)


def _error_of(scores):
    """Return a bound on the rounding of float64 scores, and of those less a margin of 1."""
    return DOUBLE * (1.0 + float(np.abs(scores).max()))


class PairRisk(ScoresRisk):
    """The mean loss of the pairs of a positive and a negative example."""

    def __init__(self, problem):
        drawn, loss = problem.pairwise.drawn, problem.pairwise.loss
        pairs = AllPairs(problem.positive, problem.weights) if drawn is None else DrawnPairs(*drawn, problem.n)
        smooth = loss == "squared_hinge"
        reach = 4.0 if smooth else 2.0
        super().__init__(
            lambda scores: pairs.value_and_subgradient(scores, loss), problem.alpha, problem.n, reach, smooth=smooth
        )


class SquaredPairRisk(ScoresRisk):
    """The mean of (1 - t)^2 over the differences t of all pairs."""

    def __init__(self, y, weights, alpha):
        super().__init__(
            lambda scores: squared_loss_and_gradient(y, scores, weights), alpha, len(y), reach=4.0, smooth=True
        )


class StructuralRisk(ScoresRisk):
    """The structural bound of 1 - the partial AUC: slopes of the positives add up to at most n / (n - m)."""

    def __init__(self, problem, alpha):
        loss = problem.make(_structural)
        reach = 2.0 * problem.high / (problem.high - problem.low)
        super().__init__(loss.upper_and_subgradient, alpha, problem.n, reach)
