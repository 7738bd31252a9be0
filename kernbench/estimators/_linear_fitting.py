"""The runs of a `LinearSVC`: each class against the rest, on one design for each thread."""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators._binary import make_design, make_solver
from kernbench.estimators._linear_rows import least_iterations
from kernbench.estimators._many_runs import ManyRuns
from kernbench.estimators._warm_start import Continuation, carried_weights


@dataclass(frozen=True)
class LinearTask:
    """What is to be fitted.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_coef)
        With the constant column, if there is one.
    codes : ndarray of shape (n_samples,)
        Index of the class of each row.
    positives : sequence of int
        For each problem the class that is +1; all others are -1.
    weights : ndarray of shape (n_samples,), or None
    Cs : sequence of float
    loss : str
    start : Continuation
    data : tuple
        What the solutions belong to.
    """

    X: object
    codes: np.ndarray
    positives: list
    weights: np.ndarray | None
    Cs: list
    loss: str
    start: Continuation
    data: tuple


class LinearRuns(ManyRuns):
    """All runs of one fit.

    Parameters
    ----------
    model : LinearSVC
        Gives the parameters, and ``classes_``.
    entry : SolverEntry
    task : LinearTask
    snapshot : callable
        ``snapshot(positive, solver)`` returns the fitted two-class model as of now.

    Attributes
    ----------
    n_inner_products : ndarray of shape (n_Cs, n_problems), int64
    """

    def __init__(self, model, entry, task, snapshot):
        n_problems = len(task.positives)
        super().__init__(model, entry, task.positives, task.Cs, [task.X.shape[1]] * n_problems, snapshot)
        self.task = task
        self.n_inner_products = np.zeros((len(task.Cs), n_problems), dtype=np.int64)
        self.least_iterations = least_iterations(task.X)

    def make_data(self, k):
        return make_design(self.task.X, self.model._twin)

    def labels(self, k):
        return np.where(self.task.codes == self.task.positives[k], 1.0, -1.0)

    def first_start(self, k, y, data):
        return self.task.start.initial(k, lambda coef: coef.shape == (data.n_coef,), self.task.data)

    def next_start(self, k, c):
        return carried_weights(self.results[k][c - 1].solution)

    def make_solver(self, k, c, data, y, initial):
        task, model = self.task, self.model
        settings = {
            "alpha": 1.0 / (self.Cs[c] * len(y)),
            "weights": task.weights,
            "loss": task.loss,
            "random_state": task.start.generators[k],
            "initial": initial,
        }
        options = model.solver_options
        solver = make_solver(self.entry, data, y, settings, tol=model.tol, options=options, twin=model._twin)
        if "min_iter" not in (options or {}) and hasattr(solver, "min_iter"):
            solver.min_iter = solver.n_iter + self.least_iterations
        return solver

    def finish(self, k, c, data, solver):
        self.n_inner_products[c, k] = solver.n_inner_products

    def title(self, k):
        return f"{self.model.classes_[self.task.positives[k]]} against the rest"
