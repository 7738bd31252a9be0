"""The problem of the one-class support vector machine: a level below which few training rows score.

    minimise  alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, rho - f(x_i)) - nu rho W/n,     W = sum_i w_i

over f and rho (Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Neural Computation 2001). With the intercept b = -rho
it has the form of a `MarginProblem` with the loss max(0, -z) and a term that is linear in b. So the sum of the
coefficients is not 0, but nu W / (alpha n); their factors in the dual objective are 0:

    maximise  -alpha/2 beta' K beta   with  0 <= beta_i <= w_i / (alpha n),  sum beta = nu W / (alpha n).
"""

import numpy as np

from kernbench.problems.certificate.extended import LONG
from kernbench.problems.certificate.risks import MarginRisk
from kernbench.problems.intercept import weighted_quantile
from kernbench.problems.margin_problem import MarginProblem, require_number
from kernbench.validation.numbers import check_number


class OneClass:
    """max(0, -z), for the share `nu` of outliers, in (0, 1]."""

    name, smoothness, lower, upper, zone, bend = "one_class", np.inf, 0.0, 1.0, 0.0, 0.0

    def __init__(self, nu):
        self.parameter = float(check_number("nu", nu, above=0, at_most=1))

    @staticmethod
    def value(z):
        return np.maximum(0.0, -z)


class NoveltyProblem(MarginProblem):
    """A checked problem over the rows of a kernel matrix.

    Parameters
    ----------
    rows : KernelRows
    alpha : float
    weights : array-like of shape (n,), optional
    loss : OneClass
    """

    def __init__(self, rows, *, alpha, weights=None, loss):
        self.loss, self.rows, self.n, self.fit_intercept = loss, rows, rows.n_rows, True
        self.y, self.targets = np.ones(self.n), np.zeros(self.n)
        self.linear = self.targets
        self.weights = self._checked_weights(weights)
        self.total_weight = self.weights.sum()
        if not self.total_weight > 0:
            raise ValueError("at least one example needs a positive weight")
        self.alpha = require_number("alpha", alpha, positive=True)
        self.mass = loss.parameter * self.total_weight  # alpha n times the sum of the coefficients

    def loss_sum(self, responses, intercept):
        """Return sum_i w_i max(0, rho - f(x_i)) - nu W rho."""
        return super().loss_sum(responses, intercept) + self.mass * intercept

    def best_intercept(self, responses):
        """Return minus the level below which the share nu of the weight lies."""
        used = self.weights > 0
        level = min(self.mass, self.weights[used].sum() * (1.0 - 1e-12))
        return -weighted_quantile(responses[used], self.weights[used], level)

    def unit(self):
        """Return 1: coefficients times alpha n are at most the weights, as in LIBSVM."""
        return 1.0

    def feasible(self, coef):
        """Return coefficients near `coef` inside the box and of the right sum: missing mass is added to the first
        rows."""
        lower, upper = self.box()
        beta, total = np.clip(np.asarray(coef, dtype=np.float64), lower, upper), self.mass / (self.alpha * self.n)
        missing = total - beta.sum()
        if missing > 1e-12 * total:
            room = upper - beta
            return beta + np.clip(missing - (np.cumsum(room) - room), 0.0, room)
        return beta * (total / beta.sum()) if missing < -1e-12 * total else beta

    def start(self):
        return self.feasible(np.zeros(self.n))

    def gap(self, coef, responses, intercept):
        """Return the objective at f = sum_i coef_i k(x_i, .) minus a lower bound on the optimum."""
        beta = self.feasible(coef)
        products = responses if np.array_equal(beta, coef) else self.rows.matvec(beta)
        return max(0.0, self.objective(responses, coef @ responses, intercept) + 0.5 * self.alpha * (beta @ products))


class NoveltyRisk(MarginRisk):
    """(1/n) sum_i w_i max(0, rho - f(x_i)) - nu rho W/n, for certificates.

    Parameters
    ----------
    problem : NoveltyProblem
    """

    lowest = -np.inf

    def value(self, scores, intercept):
        return super().value(scores, intercept) + self.problem.mass * LONG(intercept) / self.n

    def _dual(self, space, beta):
        p = self.problem
        g = p.feasible(beta).astype(LONG) * (p.alpha * p.n)
        u = space.combine(g)
        scores = space.scores(u)
        quadratic = max(0.0, float(space.inner(u, scores) / (p.alpha * LONG(p.n) ** 2)))
        # The a of exactly the right sum differs from this one by the residual.
        residual = float(abs(g.sum() - p.mass)) + np.finfo(float).eps * float(np.abs(g).max())
        bound = -0.5 * quadratic - residual / p.n * float(np.abs(scores).max() / (p.alpha * p.n))
        return bound, float(np.abs(g).sum() / p.n)


def kernel_problem(rows, y, *, alpha, weights, fit_intercept, loss):
    """Return the problem that SMO solves: that of a `OneClass` loss, or a `MarginProblem`."""
    if isinstance(loss, OneClass):
        return NoveltyProblem(rows, alpha=alpha, weights=weights, loss=loss)
    return MarginProblem(
        rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss, free_constant=True
    )
