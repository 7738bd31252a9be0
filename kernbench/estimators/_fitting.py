"""The runs of a `KernelSVC`: each two-class problem on kernel rows.

Kernel rows belong to one thread; where all problems are on the same examples (one against the rest, and the
Cs of a path) it keeps them from one run to the next.
"""

from dataclasses import dataclass

import numpy as np

from kernbench.estimators._binary import make_rows, make_solver
from kernbench.estimators._many_runs import ManyRuns
from kernbench.estimators._training_data import (
    entries_per_row,
    narrow_will_do,
    without_empty_columns,
)
from kernbench.estimators._warm_start import Continuation, carried

# float64 by way of float32 ends with a product in float64, n values for each support vector. It pays where values
# are asked for more than once (with few rows a problem is one working set) and cost something. Measured, by entries
# per row: 12 to 22 (w8a, a9a, ijcnn1) no gain, 54 (covtype) and 150 (MNIST) a shorter time.
REFINED_ROWS = 2500
REFINED_ENTRIES = 40


@dataclass(frozen=True)
class Task:
    """What is to be fitted.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    pairs : list of Pair
        The two-class problems.
    weights : ndarray of shape (n_samples,), or None
    Cs : sequence of float
    start : Continuation
        Gives the first solutions, where there are any, and the random generators.
    data : tuple
        What the solutions belong to.
    """

    X: object
    pairs: list
    weights: np.ndarray | None
    Cs: list
    start: Continuation
    data: tuple


class PairRuns(ManyRuns):
    """All runs of one fit.

    Parameters
    ----------
    model : KernelSVC
        Gives the parameters, and ``kernel_``, ``dtype_`` and ``classes_``.
    entry : SolverEntry
    task : Task
    snapshot : callable
        ``snapshot(pair, solver)`` returns the fitted model of `pair` as of now.
    """

    def __init__(self, model, entry, task, snapshot):
        super().__init__(model, entry, task.pairs, task.Cs, [len(pair.y) for pair in task.pairs], snapshot)
        self.task = task
        self.shares_data = all(pair.negative is None for pair in task.pairs)

    def make_data(self, k):
        model, pair = self.model, self.task.pairs[k]
        X = without_empty_columns(pair.examples(self.task.X, model.kernel), model.kernel_)
        twin = "refined" if self._is_refined(X) else model._twin
        return make_rows(X, model.kernel_, cache_size=model.cache_size, dtype=model.dtype_, twin=twin)

    def _is_refined(self, X):
        """Whether the solver reaches float64 by way of float32: if it knows how, where it pays and can be done."""
        model = self.model
        asked = self.entry.two_precisions and model._twin == "compiled" and model.dtype_ == "float64"
        if not asked or X.shape[0] <= REFINED_ROWS or not narrow_will_do(model.kernel_, X):
            return False
        return entries_per_row(model.kernel_, X) >= REFINED_ENTRIES

    def labels(self, k):
        return self.task.pairs[k].y

    def first_start(self, k, y, data):
        # The coefficients serve as long as they fit the labels: one for each, of its sign.
        def fits(coef):
            return coef.shape == y.shape and not np.any(coef * y < 0)

        return self.task.start.initial(k, fits, self.task.data)

    def next_start(self, k, c):
        weights = self.task.pairs[k].of_rows(self.task.weights)
        return carried(self.results[k][c - 1].solution, self.Cs[c - 1], self.Cs[c], weights)

    def make_solver(self, k, c, data, y, initial):
        model = self.model
        settings = {
            # A slack budget `nu` takes the place of alpha where a solver has one.
            "alpha": None if "nu" in (model.solver_options or {}) else 1.0 / (self.Cs[c] * data.n_rows),
            "weights": self.task.pairs[k].of_rows(self.task.weights),
            "fit_intercept": model.fit_intercept,
            "loss": model.loss,
            "random_state": self.task.start.generators[k],
            "initial": initial,
        }
        # The reference twins count for themselves, and have no rows to go on from.
        counted = data.n_evaluations if model._twin == "compiled" else 0
        solver = make_solver(
            self.entry, data, y, settings, tol=model.tol, options=model.solver_options, twin=model._twin
        )
        return _OwnEvaluations(solver, counted)

    def finish(self, k, c, data, solver):
        if hasattr(data, "release"):
            data.release()  # a solver that narrowed its view of the rows leaves them so

    def title(self, k):
        pair, classes = self.task.pairs[k], self.model.classes_
        if pair.negative is None:
            return f"{classes[pair.positive]} against the rest"
        return f"{classes[pair.negative]} against {classes[pair.positive]}"


class _OwnEvaluations:
    """A solver on rows that others used before it: it counts its own evaluations, not the `counted` before."""

    def __init__(self, solver, counted):
        self._solver, self._counted = solver, counted

    def __getattr__(self, name):
        return getattr(self._solver, name)

    @property
    def n_kernel_evaluations(self):
        return self._solver.n_kernel_evaluations - self._counted
