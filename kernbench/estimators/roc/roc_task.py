"""The task of a `ROCSVC`: a loss of pairs."""

import numpy as np

from kernbench.estimators.roc.parameters import SQUARED, check_roc_svc, loss_of, n_pairs_of
from kernbench.estimators.roc.space_task import Formulation
from kernbench.pairs.moments import squared_loss_and_gradient
from kernbench.problems.certificate.risks import PairRisk, SquaredPairRisk
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method
from kernbench.solvers.ranking.closed_form import squared_loss_solution


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


def _check(model):
    return check_roc_svc(model), loss_of(model)


def _make_solver(task, design, alpha, initial):
    model, rows = task.model, task.rows
    if model.loss_ == SQUARED:
        return SquaredLoss(design, rows.y, alpha=alpha, weights=rows.weights)
    return task.solver(design, initial, alpha=alpha, loss=model.loss_, n_pairs=n_pairs_of(model, task.n_rows))


def _examined(task, design, solver, alpha):
    if task.model.loss_ == SQUARED:
        risk = SquaredPairRisk(solver.y, solver.weights, alpha)
    else:
        risk = PairRisk(solver.problem)
    return task.examined_by(risk, design)


def _finish(task, model, result):
    model._stream = None  # of an earlier `partial_fit`


ROC = Formulation(
    check=_check,
    make_solver=_make_solver,
    of_the_solver=("pairs", "loss", "solver"),
    needs_features=lambda model: model.loss_ == SQUARED,
    continues=True,
    examined=_examined,
    finish=_finish,
)
