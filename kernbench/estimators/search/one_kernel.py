"""The search over C for one kernel: all folds, all Cs and all pairs of classes on the same kernel rows.

Holding rows out is a bound: the dual problem of a fold is that of all rows with weight 0 on the held-out ones. So the
kernel rows of all folds are rows of one matrix, which are computed once as far as the cache holds them, and the
gradient that the solver updates for all rows holds the decision values of the held-out ones.

    for each C, upwards:  fit all rows, from the solution for the C before
                          start each fold from its own solution for the C before, or from that for all rows, if the
                                  former is far; improve all starts in joint rounds (`JointSMO`)
                          for each fold: end the fit, certified, and read off its held-out scores
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from kernbench.estimators.arguments.training_data import weigh_classes
from kernbench.estimators.fit.runs import iteration_limit, within_floats
from kernbench.estimators.fit.solver import make_solver
from kernbench.estimators.fit.solver_data import make_rows
from kernbench.estimators.search.left_out import fit_left_out, leaves_one_out
from kernbench.estimators.search.starts import NEAR, box_of, dual_of, nearer, scaled, without_rows
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.multiclass import Pair, pairs_of
from kernbench.kernels.threads import n_openmp_threads, single_threaded_blas
from kernbench.problems.certificate.curvature import ROUNDING, shows_negative_curvature
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers import driver
from kernbench.solvers.kernel.smo.joint import JointSMO

ONE_SET_ROWS = 4000  # up to which SMO takes a whole problem as one working set, with nothing to share but rows
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
    signs_only : bool, default=False
        Whether held-out decision values are needed for their signs only; see `left_out`.

    Attributes
    ----------
    stop : threading.Event or None
        Ends the search once it is set.
    """

    signs_only, stop = False, None

    def __init__(self, task, sample_weight, folds, deadline, *, signs_only=False):
        self.signs_only = signs_only
        self.task, self.model, self.folds, self.deadline = task, task.model, folds, deadline
        self.loss = task.model.loss
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
        self.solved = {}  # of each pair: the last C and the solution for all rows

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    def cells(self, Cs, which=None, fit_all=True):
        """Yield the `Cell` of each C, from small to large; raise `SearchEnded` where it is cut short.

        Parameters
        ----------
        Cs : list of float
            Ascending.
        which : list of int, optional
            Folds to solve, all by default.
        fit_all : bool, default=True
            Whether to fit all rows for each C, for the final model; else for the first only, as a start of the folds.
        """
        which, before = list(range(len(self.folds))) if which is None else list(which), None
        for C in Cs:
            with single_threaded_blas():
                cell = self._cell(C, which, fit_all, before)
            before = C, cell
            yield cell

    def _cell(self, C, which, fit_all, before):
        """Return the cell of one C; `before` is the last C, with its cell, or None."""
        cell = Cell(np.full((len(self.weights), len(self.pairs)), np.nan), seconds=np.zeros(len(self.folds)))
        for k, pair in enumerate(self.pairs):
            if fit_all or before is None:
                cell.solutions.append(self._fit_all(k, pair, C, cell))
            if which == list(range(len(self.folds))) and k < len(cell.solutions) and leaves_one_out(self):
                fit_left_out(self, k, C, cell)
                continue
            earlier = [None] * len(which) if before is None else before[1].of_folds[k]
            growth = None if before is None else C / before[0]
            self._fit_folds(k, pair, C, which, earlier, growth, cell)
        return cell

    def solutions(self, C):
        """Return the solutions for all rows, one for each pair of classes."""
        with single_threaded_blas():
            return [self._fit_all(k, pair, C, Cell(np.empty(0))) for k, pair in enumerate(self.pairs)]

    def continued(self, C, cell, growth=1.0):
        """Return the cell of all folds for C from that for C / growth, or for a smaller ``tol`` of the model."""
        result = Cell(np.full_like(cell.values, np.nan), cell.solutions, seconds=np.zeros(len(self.folds)))
        with single_threaded_blas():
            for k, pair in enumerate(self.pairs):
                self._fit_folds(k, pair, C, list(range(len(self.folds))), cell.of_folds[k], growth, result)
        return result

    def weights_of_pair(self, pair, j=None):
        """Return the weights of the problem of a pair of classes in fold j; None for all rows."""
        weights = self.weights if j is None else self.fold_weights[j]
        return weights * np.isin(self.task.codes, (pair.negative, pair.positive))

    def box(self, pair, weights, C):
        """Return the bounds of the coefficients."""
        return box_of(pair.y, weights, C)

    def squared_norms(self):
        """Return k(x, x) of all rows, at least 0: rounding may leave less."""
        return np.maximum(self.rows.diagonal(), 0.0)

    def is_indefinite(self, pair, C, solution, j=None):
        """Return whether the kernel shows negative curvature on all rows, held out or not, so that no band holds.

        Where an intercept is free, a fit is certified also if only directions of sum zero have none. A band is not: it
        bounds f(x) by k(x, x), the square of a norm.

        Parameters
        ----------
        pair : Pair
        C : float
        solution : Solution
            For this pair and C, in fold j; None for all rows.
        j : int, optional
        """
        kernel = self.model.kernel_
        if kernel.is_semi_definite:
            return False
        diagonal = self.rows.diagonal()
        if diagonal.min() < -ROUNDING * np.abs(diagonal).max():  # few rows are looked at below
            return True
        problem, scores = self.problem(pair, self.weights_of_pair(pair, j), C), solution.state["products"]
        return shows_negative_curvature(
            kernel,
            self.task.X,
            solution.coef,
            balanced=False,
            objective=problem.objective(scores, solution.coef @ scores, solution.intercept),
            lower=problem.alpha * dual_of(solution, pair.y),
            at_zero=problem.at_zero[0],
        )

    def _weights_of(self, fold, sample_weight):
        """Return the weights of a fold's problem, with the class weights of its training part."""
        is_train = np.zeros(len(self.task.codes))
        is_train[fold.train] = 1.0
        model = KernelSVC(class_weight=self.model.class_weight)
        classes, codes = self.model.classes_, self.task.codes
        own = is_train if sample_weight is None else is_train * sample_weight
        return weigh_classes(model, classes, classes[codes], codes, own, all_classes=True)[1]

    def _fit_all(self, k, pair, C, cell):
        """Return the solution for all rows of a pair of classes, from the last one for another C."""
        weights, start = self.weights_of_pair(pair), None
        if k in self.solved:
            then, solution = self.solved[k]
            start = scaled(solution, pair.y, C / then, self.box(pair, weights, C))
            start = self._advance([start], pair, C, [weights])[0]
        solution = self.solve(pair, C, weights, start, cell).solution
        self.solved[k] = C, solution
        return solution

    def _fit_folds(self, k, pair, C, which, earlier, growth, cell):
        """Fit a pair of classes to the folds `which`; add the results to `cell`.

        `earlier` holds their solutions for the C before, and `growth` the ratio of the two Cs; None for the first C,
        for which the fit to all rows is the start.
        """
        weights = [self.weights_of_pair(pair, j) for j in which]
        boxes = [self.box(pair, own, C) for own in weights]
        starts = [one and scaled(one, pair.y, growth, box) for one, box in zip(earlier, boxes, strict=True)]
        if k < len(cell.solutions):
            starts = self._nearest(starts, cell.solutions[k], pair.y, boxes)
        begin = perf_counter()
        starts = self._advance(starts, pair, C, weights)
        cell.seconds[which] += (perf_counter() - begin) / len(which)
        cell.of_folds.append([])
        for j, own, start in zip(which, weights, starts, strict=True):
            result = self.solve(pair, C, own, start, cell)
            cell.seconds[j] += result.seconds
            solution, test = result.solution, self.folds[j].test
            cell.of_folds[k].append(solution)
            cell.values[test, k] = solution.state["products"][test] + solution.intercept

    def _nearest(self, starts, full, y, boxes):
        """Return starts of which those that are missing or far were compared with the solution for all rows."""
        dual = dual_of(full, y)
        far = [j for j, start in enumerate(starts) if start is None or dual_of(start, y) < NEAR * dual]
        others = without_rows(self.rows, full, y, [boxes[j] for j in far], self.model.fit_intercept)
        for j, other in zip(far, others, strict=True):
            starts[j] = nearer(other, starts[j], y)
        return starts

    def _advance(self, starts, pair, C, weights):
        """Return starts improved in rounds for all of them at once, if the problem is larger than one working set."""
        if self.rows.n_rows <= ONE_SET_ROWS or self.model.max_iter != -1:
            return starts
        return self.run_jointly(starts, pair, C, weights).solutions()

    def run_jointly(self, starts, pair, C, weights, is_settled=None):
        """Return a `JointSMO` after its run from the starts; `is_settled` is one of its parameters."""
        model = self.model
        problems = [self.problem(pair, own, C) for own in weights]
        settings = {"tol": model.tol, "n_threads": n_openmp_threads(), "core": model._twin, "is_settled": is_settled}
        joint = JointSMO(self.rows, problems, starts, **settings)
        result = self._run(joint, len(problems) * iteration_limit(model, self.task.entry, self.rows.n_rows))
        if result.status in UNFINISHED:
            raise SearchEnded(result.status)
        return joint

    def problem(self, pair, weights, C):
        """Return the problem of a pair of classes with these weights."""
        return MarginProblem(self.rows, pair.y, weights=weights, loss=self.loss, **self._objective(C))

    def _objective(self, C):
        return {"alpha": 1.0 / (C * self.rows.n_rows), "fit_intercept": self.model.fit_intercept}

    def solve(self, pair, C, weights, initial, cell):
        """Return the outcome of the solver, which certifies a start that `_advance` has solved."""
        settings = {
            **self._objective(C),
            "weights": weights,
            "loss": self.loss,
            "random_state": None,
            "initial": initial,
            "shrinking": False,  # the gradient of all rows is needed
        }
        solver = make_solver(self.model, self.task.entry, self.rows, pair.y, settings)
        result = self._run(solver, iteration_limit(self.model, self.task.entry, len(weights)))
        if result.status in UNFINISHED:
            raise SearchEnded(result.status)
        cell.n_unconverged += result.status != "converged"
        return result

    def _run(self, solver, max_iter):
        left = self.deadline - perf_counter()
        if left <= 0:
            raise SearchEnded("max_seconds")
        with within_floats(self.model, self.task), single_threaded_blas():
            return driver.run(
                solver,
                max_iter=max_iter,
                tol=self.model.tol,
                max_seconds=None if left == np.inf else left,
                stop=self.stop,
                counted_from=self.rows.n_evaluations,
            )
