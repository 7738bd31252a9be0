"""The search over C for one kernel: all folds, all Cs and all pairs of classes on the same kernel rows.

Holding rows out is a bound: the dual problem of a fold is that of all rows with weight 0 on the held-out ones. So the
kernel rows of all folds are rows of one matrix, which are computed once as far as the cache holds them, and the
gradient that the solver updates for all rows holds the decision values of the held-out ones.

    for each C, upwards:  fit all rows, from the solution for the C before
                          for each fold: fit, from the solution for all rows or from its own for the C before,
                                         whichever has the larger dual objective; read off its held-out scores
"""

from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np

from kernbench.estimators.fit.runs import iteration_limit, within_floats
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import make_rows
from kernbench.estimators.fit.training_data import weigh_classes
from kernbench.estimators.search.starts import box_of, nearer, products_of, restored
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.kernel_task import PairProblem
from kernbench.estimators.svm.multiclass import Pair, pairs_of
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import driver
from kernbench.solvers.base import Solution

UNFINISHED = ("max_seconds", "interrupted")  # a run with this status ends the search


class SearchEnded(Exception):
    """The time budget is used up, or Ctrl-C was pressed; the argument is the status of the last run."""


@dataclass
class Cell:
    """The outcome for one C.

    Attributes
    ----------
    values : ndarray of shape (n, n_pairs)
        Decision values of the held-out rows; NaN for rows that are in no held-out part.
    solutions : list of Solution
        Of all rows, one for each pair of classes.
    of_folds : list of list of Solution
        Of each fold, for each pair of classes.
    seconds : ndarray of shape (n_folds,)
    n_unconverged : int
        Number of runs that stopped before they reached ``tol``.
    """

    values: np.ndarray
    solutions: list = field(default_factory=list)
    of_folds: list = field(default_factory=list)
    seconds: np.ndarray = None
    n_unconverged: int = 0


class OneKernel:
    """The cells of one kernel.

    Parameters
    ----------
    task : KernelTask
        Of a `KernelSVC` with this kernel.
    sample_weight : ndarray of shape (n,), or None
        Without class weights.
    folds : list of Fold
    deadline : float
        Time of ``perf_counter`` at which the search ends.
    """

    def __init__(self, task, sample_weight, folds, deadline):
        self.task, self.model, self.folds, self.deadline = task, task.model, folds, deadline
        codes, n = task.codes, len(task.codes)
        self.rows = make_rows(
            task.X,
            task.model.kernel_,
            task.dtype,
            cache_size=task.model.cache_size,
            twin=task.model._twin,
            may_widen=task.model.dtype == "auto",
            keep=True,
        )
        self.pairs = []  # each with all rows: those of other classes have weight 0
        for pair in pairs_of(codes, len(self.model.classes_), None):
            y = np.where(codes == pair.positive, 1.0, -1.0)
            self.pairs.append(Pair(pair.negative, pair.positive, None, y))
        self.weights = np.ones(n) if task.weights is None else task.weights
        self.fold_weights = [self._weights_of(fold, sample_weight) for fold in folds]

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    def cells(self, Cs):
        """Yield the `Cell` of each C, from small to large; raise `SearchEnded` where it is cut short."""
        before = None
        for C in Cs:
            cell = Cell(np.full((len(self.weights), len(self.pairs)), np.nan), seconds=np.zeros(len(self.folds)))
            for k, pair in enumerate(self.pairs):
                earlier = [None] * (1 + len(self.folds))
                if before is not None:
                    follow = PairProblem(self.task, k, pair).next_start
                    solutions = [before[1].solutions[k], *before[1].of_folds[k]]
                    earlier = [follow(solution, before[0], C) for solution in solutions]
                self._fit_pair(k, pair, C, earlier, cell)
            before = C, cell
            yield cell

    def _weights_of(self, fold, sample_weight):
        """Return the weights of a fold's problem, with the class weights of its training part."""
        is_train = np.zeros(len(self.task.codes))
        is_train[fold.train] = 1.0
        model = KernelSVC(class_weight=self.model.class_weight)
        classes, codes = self.model.classes_, self.task.codes
        own = is_train if sample_weight is None else is_train * sample_weight
        return weigh_classes(model, classes, classes[codes], codes, own)

    def _fit_pair(self, k, pair, C, earlier, cell):
        """Fit a pair of classes to all rows and to each fold; add the results to `cell`.

        `earlier` holds the starts from the C before, that of all rows first; None for the first C.
        """
        is_member = np.isin(self.task.codes, (pair.negative, pair.positive))
        weights = self.weights * is_member
        initial = _within(earlier[0], box_of(pair.y, weights, C))
        full = self._solve(pair, C, weights, initial, cell).solution
        cell.solutions.append(full)
        cell.of_folds.append([])
        coef, products = full.coef, full.state["products"]
        slopes = pair.y - products - full.intercept
        weights = [own * is_member for own in self.fold_weights]
        starts = np.column_stack([
            restored(coef, *box_of(pair.y, own, C), slopes, self.model.fit_intercept) for own in weights
        ])  # fmt: skip
        responses = products_of(self.rows, products, coef, starts)
        for j, fold in enumerate(self.folds):
            state = {"products": np.ascontiguousarray(responses[:, j])}
            start = Solution(np.ascontiguousarray(starts[:, j]), full.intercept, state=state)
            start = nearer(start, _within(earlier[j + 1], box_of(pair.y, weights[j], C)), pair.y)
            result = self._solve(pair, C, weights[j], start, cell)
            cell.seconds[j] += result.seconds
            own = result.solution
            cell.of_folds[k].append(own)
            cell.values[fold.test, k] = own.state["products"][fold.test] + own.intercept

    def _solve(self, pair, C, weights, initial, cell):
        model, task = self.model, self.task
        left = self.deadline - perf_counter()
        if left <= 0:
            raise SearchEnded("max_seconds")
        settings = {
            "alpha": 1.0 / (C * self.rows.n_rows),
            "weights": weights,
            "fit_intercept": model.fit_intercept,
            "loss": model.loss,
            "random_state": None,
            "initial": initial,
            "shrinking": False,  # the gradient of all rows is needed
        }
        with within_floats(model, task), single_threaded_blas():
            result = driver.run(
                make_solver(model, task.entry, self.rows, pair.y, settings),
                max_iter=iteration_limit(model, task.entry, len(weights)),
                tol=model.tol,
                max_seconds=None if left == np.inf else left,
                counted_from=self.rows.n_evaluations,
            )
        if result.status in UNFINISHED:
            raise SearchEnded(result.status)
        cell.n_unconverged += result.status != "converged"
        return result


def _within(start, box):
    """Return a start from the C before with coefficients at their bound where they are but for rounding."""
    return start and replace(start, coef=restored(start.coef, *box, np.zeros(len(start.coef)), False))
