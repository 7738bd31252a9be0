"""Support vector machines with a share nu in place of a margin, of the width of a zone, or of C.

With W = sum_i w_i, over functions f and intercepts b (Schölkopf, Smola, Williamson, Bartlett, Neural Computation 2000):

    classification   minimise over rho >= 0    alpha/2 ||f||^2 + (1/n) (sum_i w_i max(0, rho - z_i) - nu W rho)
    regression       minimise over eps >= 0    alpha/2 ||f||^2 + (1/n) (sum_i w_i max(0, |z_i| - eps) + nu W eps)

with the margins z_i = y_i (f(x_i) + b), or the residuals z_i = f(x_i) + b - t_i. The least value over rho is minus the
sum of the smallest margins, those of the share nu of the weight; over eps it is the sum of the largest |z_i| of that
share. So neither is a variable here: the losses of examples are not independent, but `loss_sum` is convex in f and b.

The dual problems, for coefficients of f = sum_i beta_i k(x_i, .) with |beta_i| <= w_i / (alpha n) and M = nu W / (alpha
n), are

    classification   maximise  -1/2 beta' K beta              y_i beta_i >= 0,  sum y_i beta_i over each class = M / 2
    regression       maximise  sum_i t_i beta_i - 1/2 beta' K beta              sum_i beta_i = 0,  sum_i |beta_i| <= M

For the one-class problem, which is like the former with one class and no b, see `novelty_problem`.
"""

import numpy as np

from kernbench.losses.duality import balanced
from kernbench.losses.regression import regression_loss
from kernbench.problems.certificate.extended import LONG
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.intercept import best_constant, weighted_quantile
from kernbench.problems.margin_problem import MarginProblem, require_number
from kernbench.validation.numbers import check_number

NO_BETTER = 1e-3  # share of the tolerance below which a violation or a gap shows that nothing is better than f = 0
SAME_SUM = 1e-12  # share of a sum of coefficients that counts as rounding


class NuLoss:
    """The losses of all examples together, for the share `nu` in (0, 1] of their weight, by default that of LIBSVM."""

    smoothness, lower, upper, zone, bend = np.inf, 0.0, 1.0, 0.0, 0.0

    def __init__(self, nu=0.5):
        self.parameter = float(check_number("nu", nu, above=0, at_most=1))

    def problem_of(self, rows, y, **settings):
        """Return the problem of these kernel rows."""
        raise NotImplementedError


class NuMargin(NuLoss):
    """The nu-loss of margins: minus the smallest ones."""

    name = "nu_margin"

    def problem_of(self, rows, y, **settings):
        return NuClassification(rows, y, loss=self, **settings)


class NuResidual(NuLoss):
    """The nu-loss of residuals: the magnitudes of the largest ones."""

    name, lower = "nu_residual", -1.0

    def problem_of(self, rows, y, **settings):
        return NuRegression(rows, y, loss=self, **settings)


class NuProblem(MarginProblem):
    """A checked problem over the rows of a kernel matrix.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
    alpha : float
    weights : array-like of shape (n,), optional
    loss : NuLoss

    Attributes
    ----------
    mass : float
        nu W.
    """

    has_multiples, lowest = False, -np.inf

    def __init__(self, rows, y, *, alpha, weights=None, loss):
        self.loss, self.rows, self.n, self.fit_intercept = loss, rows, rows.n_rows, True
        self.y, self.targets = self._checked_signs_and_targets(y)
        self.linear = self.targets
        self.weights = self._checked_weights(weights)
        self.total_weight = self.weights.sum()
        if not self.total_weight > 0:
            raise ValueError("at least one example needs a positive weight")
        self.alpha = require_number("alpha", alpha, positive=True)
        self.mass = loss.parameter * self.total_weight

    def unit(self):
        """Return 1: coefficients times alpha n are at most the weights, as in LIBSVM."""
        return 1.0

    def size(self):
        """Return M, the sum of the magnitudes of the coefficients, or its bound."""
        return self.mass / (self.alpha * self.n)

    def least_objective(self, largest):
        """Return the least value of -alpha/2 ||f||^2 inside the constraints with k(x, z) up to `largest`: the unit of
        objectives and gaps near 0, where no share of the objective can be reached."""
        return -0.5 * self.alpha * self.size() ** 2 * largest

    def dual_bound(self, coef, responses=None, matrix=None):
        """Return the dual objective of feasible coefficients near `coef`, whose responses may be known."""
        beta = self.feasible(coef)
        if responses is None or not np.array_equal(beta, coef):
            responses = (self.rows if matrix is None else matrix).matvec(beta)
        return self.alpha * (self.linear @ beta - 0.5 * (beta @ responses))


class NuClassification(NuProblem):
    """The problem of two classes; each needs at least half of the share nu."""

    constraint = "signs"

    def __init__(self, rows, y, *, alpha, weights=None, loss):
        super().__init__(rows, y, alpha=alpha, weights=weights, loss=loss)
        of_class = [self.weights[self.y == label].sum() for label in (-1, 1)]
        require_feasible(loss.parameter, of_class, ("-1", "+1"))

    def _checked_signs_and_targets(self, y):
        return self._checked_labels(y), np.zeros(self.n)

    @property
    def at_zero(self):
        """The risk of f = 0 with the best intercept, 0 both: each class has at least half of the share."""
        return 0.0, 0.0

    def loss_sum(self, responses, intercept):
        """Return minus the sum of the smallest margins."""
        return 0.0 - tail(self.y * (responses + intercept), self.weights, self.mass)  # 0, not -0, for f = 0

    def level(self, scores):
        """Return the best rho."""
        return weighted_quantile(self.y * scores, self.weights, min(self.mass, self.total_weight * (1.0 - SAME_SUM)))

    def excess(self, margins, level):
        """Return how far margins are below rho."""
        return level - margins

    def residual(self, g):
        """Return by how much the sums of coefficients, in units of 1 / (alpha n), miss what they should be."""
        return float(sum(abs(np.abs(g[self.y == label]).sum() - 0.5 * self.mass) for label in (-1, 1)))

    def best_intercept(self, responses):
        """Return the b with which half of the smallest margins are in either class."""
        u, v = (self._quantile(label, label * responses) for label in (1, -1))  # rho - b, rho + b
        return 0.5 * (v - u) + 0.0

    def _quantile(self, label, margins):
        used = (self.y == label) & (self.weights > 0)
        weights = self.weights[used]
        return weighted_quantile(margins[used], weights, min(0.5 * self.mass, weights.sum() * (1.0 - SAME_SUM)))

    def feasible(self, coef):
        """Return coefficients near `coef` inside the box, with the sum M / 2 in each class."""
        beta, (lower, upper) = np.array(coef, dtype=np.float64), self.box()
        for label, bound in ((1.0, upper), (-1.0, -lower)):
            own = self.y == label
            beta[own] = label * filled(label * beta[own], bound[own], 0.5 * self.size())
        return beta

    def start(self):
        return self.feasible(np.zeros(self.n))


class NuRegression(NuProblem):
    """The problem of targets."""

    constraint, lowest = "size", 0.0

    def _checked_signs_and_targets(self, y):
        return np.ones(self.n), self._checked_targets(y)

    def loss_sum(self, responses, intercept):
        """Return the sum of the largest magnitudes of residuals."""
        return -tail(-np.abs(responses + intercept - self.targets), self.weights, self.mass)

    def level(self, scores):
        """Return the best eps."""
        return zone_of(scores - self.targets, self.weights, self.mass)

    def excess(self, residuals, level):
        """Return how far residuals are outside of the zone."""
        return np.abs(residuals) - level

    def residual(self, g):
        """Return by how much the sums of coefficients, in units of 1 / (alpha n), miss what they should be."""
        return float(abs(g.sum()) + max(0.0, np.abs(g).sum() - self.mass))

    def best_intercept(self, responses):
        """Return the middle of the zone outside of which half of the share nu is on either side."""
        used = self.weights > 0
        rests, weights = (self.targets - responses)[used], self.weights[used]
        half = 0.5 * self.mass
        return 0.5 * sum(weighted_quantile(rests, weights, level) for level in (half, weights.sum() - half))

    def unit(self):
        """Return the targets' mean distance from their median."""
        constant = best_constant(self.targets, self.weights, regression_loss("absolute_error"))
        return float(self.weights @ np.abs(self.targets - constant) / self.total_weight)

    def feasible(self, coef):
        """Return coefficients near `coef` inside the box, of sum zero, whose magnitudes add up to M at most."""
        beta = balanced(np.clip(np.asarray(coef, dtype=np.float64), *self.box()))
        size = np.abs(beta).sum()
        return beta if size <= self.size() * (1.0 + SAME_SUM) else beta * (self.size() / size)


class NuRisk(MarginRisk):
    """The mean loss of a `NuProblem`, for certificates."""

    def __init__(self, problem):
        super().__init__(problem)
        self.lowest = problem.lowest

    def negligible(self, tol, largest):
        """Return the gap that counts as 0 at f = 0 with the objective 0: a share of that of equal rows."""
        return -NO_BETTER * tol * self.problem.least_objective(largest)

    def sensitive(self, scores, error):
        self._level = self.problem.level(scores)  # kept: it moves the sum of all losses down only
        return super().sensitive(scores, error)

    def _losses(self, rows, scores):
        p = self.problem
        z = p.y[rows] * scores - p.targets[rows]
        return p.weights[rows] * np.maximum(0.0, p.excess(z, self._level))

    def value(self, scores, intercept):
        return self.problem.loss_sum(scores, LONG(intercept)) / self.n

    def _dual(self, space, beta):
        p = self.problem
        g = p.feasible(beta).astype(LONG) * (p.alpha * p.n)
        u = space.combine(g)
        scores = space.scores(u)
        quadratic = max(0.0, float(space.inner(u, scores) / (p.alpha * LONG(p.n) ** 2)))
        # The g of exactly the right sums differs from this one by the residual.
        residual = p.residual(g) + np.finfo(float).eps * float(np.abs(g).max())
        steepest = float(np.abs(p.targets).max()) + float(np.abs(scores).max() / (p.alpha * p.n))
        bound = float(g @ p.targets / p.n) - 0.5 * quadratic - residual / p.n * steepest
        return bound, float(np.abs(g).sum() / p.n)


def kernel_problem(rows, y, *, alpha, weights, fit_intercept, loss):
    """Return the problem that SMO solves: that of a `NuLoss`, or a `MarginProblem`."""
    if isinstance(loss, NuLoss):
        return loss.problem_of(rows, y, alpha=alpha, weights=weights)
    return MarginProblem(
        rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss, free_constant=True
    )


def zone_of(residuals, weights, mass):
    """Return the least eps that this much of the weight is outside of, or at the edge."""
    return weighted_quantile(np.abs(residuals), weights, weights.sum() - mass)


def tail(values, weights, mass):
    """Return sum_i w_i v_i over the smallest values, those of this sum of weights; the last one counts in part."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    taken = np.clip(mass - (np.cumsum(weights) - weights), 0.0, weights)
    return taken @ values


def filled(beta, upper, total):
    """Return coefficients near `beta` between 0 and `upper` of this sum: missing mass is added to the first rows."""
    beta = np.clip(beta, 0.0, upper)
    missing = total - beta.sum()
    if missing > SAME_SUM * total:
        room = upper - beta
        return beta + np.clip(missing - (np.cumsum(room) - room), 0.0, room)
    return beta * (total / beta.sum()) if missing < -SAME_SUM * total else beta


def require_feasible(nu, weights, names):
    """Raise ValueError, in LIBSVM's words, if two classes of these sums of weights cannot have nu / 2 of all each."""
    most = largest_feasible(weights)
    if nu > most * (1.0 + SAME_SUM):
        raise ValueError(
            f"specified nu is infeasible: nu={nu:g}, but with the weights of the classes {names[0]} and {names[1]}, "
            f"{weights[0]:g} and {weights[1]:g}, it can be at most {most:.6g}, twice the share of the lighter class"
        )


def largest_feasible(weights):
    """Return the largest nu of two classes of these sums of weights."""
    return 2.0 * min(weights) / sum(weights)
