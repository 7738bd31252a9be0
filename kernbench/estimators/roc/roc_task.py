"""The problem of a `ROCSVC`: a loss of pairs."""

import numpy as np

from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.roc.parameters import SQUARED, check_roc_svc, loss_of, n_pairs_of
from kernbench.estimators.roc.task import RankingTask
from kernbench.pairs.moments import squared_loss_and_gradient
from kernbench.problems.certificate.risks import PairRisk, SquaredPairRisk
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method
from kernbench.solvers.ranking.closed_form import squared_loss_solution


class ROCTask(RankingTask):
    """The task of one `ROCSVC`, or of a path of them."""

    of_the_solver = ("pairs", "loss", "solver")

    def __init__(self, model, X, y, sample_weight):
        entry, loss = check_roc_svc(model), loss_of(model)
        super().__init__(model, entry, X, y, sample_weight, loss=loss, needs_features=loss == SQUARED)

    def make_solver(self, design, alpha, initial):
        model, y, weights = self.model, self.rows.y, self.rows.weights
        if model.loss_ == SQUARED:
            return SquaredLoss(design, y, alpha=alpha, weights=weights)
        settings = {
            "alpha": alpha,
            "weights": weights,
            "loss": model.loss_,
            "n_pairs": n_pairs_of(model, self.n_rows),
            "random_state": self.last.draws.solver,
            "initial": initial,
        }
        return make_solver(model, self.entry, design, y, settings)

    def examined(self, design, solver, alpha):
        if self.model.loss_ == SQUARED:
            risk = SquaredPairRisk(solver.y, solver.weights, alpha)
        else:
            risk = PairRisk(solver.problem)
        return self.examined_by(risk, design)

    def assemble(self, model, results):
        super().assemble(model, results)
        model._stream = None  # of an earlier `partial_fit`


class SquaredLoss(Method):
    """The squared loss of all pairs, a quadratic function of the weights: one step, and its gap is rounding."""

    first_check = None

    def __init__(self, design, y, *, alpha, weights):
        self.design, self.y, self.alpha, self.weights = design, y, alpha, weights
        self.coef = np.zeros(design.n_coef)

    def advance(self, n_iter):
        self.coef = squared_loss_solution(self.design, self.y, alpha=self.alpha, weights=self.weights)
        self.n_iter, self.converged = 1, True
        return 1

    def check(self, tol):
        self.converged = self.gap() <= tol * self.objective()
        return self.converged

    def solution(self):
        return Solution(self.coef, n_iter=self.n_iter)

    def objective(self):
        return self._value_and_gradient()[0]

    def gap(self):
        """A strongly convex objective is at most |gradient|^2 / (2 alpha) above its optimum."""
        gradient = self._value_and_gradient()[1]
        return float(gradient @ gradient) / (2.0 * self.alpha)

    def _value_and_gradient(self):
        loss, slopes = squared_loss_and_gradient(self.y, self.design.scores(self.coef), self.weights)
        value = float(0.5 * self.alpha * (self.coef @ self.coef) + loss)
        return value, self.alpha * self.coef + self.design.combine(slopes)
