"""What a search over `KernelSVC` has that others have not: shared kernel rows, races, certificates, calibration."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.fit.path import fit_task
from kernbench.estimators.search.calibration import (
    METHODS,
    check_all_classes_are_held_out,
    fitted_calibration,
    out_of_fold_probabilities,
)
from kernbench.estimators.search.cells import GridOfCells
from kernbench.estimators.search.certificate import certify_finalists
from kernbench.estimators.search.folds import Examples
from kernbench.estimators.search.frame import Search, changed
from kernbench.estimators.search.halving import Halving
from kernbench.estimators.search.held_out import HeldOut
from kernbench.estimators.search.one_kernel import OneKernel, SearchEnded
from kernbench.estimators.search.parameters import check_memory, checked_grid
from kernbench.estimators.search.race import Race
from kernbench.estimators.search.results import CalibratedResult
from kernbench.estimators.search.small_folds import SmallFolds
from kernbench.estimators.svm.kernel_svc import KernelSVC
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.estimators.svm.small_pairs import fit_small_pairs
from kernbench.kernels.domain import is_precomputed
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_flag, check_name, check_number

CELLS = {"race": Race, "halving": Halving}  # of the searches that leave cells out
COLUMNS = {
    "exact": {},
    "race": {"dropped_after": None, "dropped_p_value": np.nan, "dropped_against": -1},
    "halving": {"dropped_after": None, "dropped_score": np.nan, "dropped_against": -1},
}  # of ``cv_results_``, with what cells have that were not dropped
FITS = ("class_weight", "fit_intercept", "loss", "max_iter", "tol")  # parameters on which a cell depends


class SVCCells:
    """The cells along C; parameters as of `FoldPaths`, less those not needed, and `signs_only` of `OneKernel`.

    A `task` has the kernel already, that of more rows than those of `examples`.
    """

    stop = None  # see `FoldPaths`

    def __init__(self, model, examples, folds, deadline, *, signs_only=False, task=None):
        self.model, self.examples, self.folds, self.deadline = model, examples, folds, deadline
        self.signs_only = signs_only
        self._kernel = None
        if task is not None:
            self.task = task

    @cached_property
    def task(self):
        """The task of all rows."""
        return KernelTask(self.model, self.examples.X, self.examples.y, self.examples.sample_weight)

    @property
    def identity(self):
        """What the numbers of a cell depend on, besides C."""
        task, model = self.task, self.model
        parameters = {name: getattr(model, name) for name in FITS}
        parts = [(fold.train, fold.test) for fold in self.folds]
        data = (task.X, task.codes, model.classes_.tolist(), self.examples.sample_weight, parts)
        may_widen = model.dtype == "auto" and task.dtype == "float32"
        dtype = "float32 or float64" if may_widen else str(task.dtype)
        return (data, repr(model.kernel_), dtype, parameters)

    @property
    def shape(self):
        """Shape of the values of a cell, one column for each pair of classes."""
        n_classes = len(self.examples.classes)
        return len(self.examples.y), n_classes * (n_classes - 1) // 2

    @property
    def n_kernel_evaluations(self):
        return 0 if self._kernel is None else self._kernel.n_kernel_evaluations

    def cells(self, Cs):
        """Yield the `Cell` of each C, from small to large; raise `SearchEnded` where it is cut short."""
        self._kernel = self._make_kernel()
        self._kernel.stop = self.stop
        return self._kernel.cells(Cs)

    def completed(self, C, solutions):
        """Return the cell of one C with all decision values to ``tol``, given the solutions for all rows."""
        self._kernel = self._make_kernel()
        self._kernel.solved = {k: (C, solution) for k, solution in enumerate(solutions)}
        return next(self._kernel.cells([C]))

    def _make_kernel(self):
        own = self.task, self.examples.sample_weight, self.folds, self.deadline
        return OneKernel(*own, signs_only=self.signs_only)


class PairCells(SVCCells):
    """The same, of which small ones of many classes are fitted fold by fold."""

    def __init__(self, model, examples, folds, deadline, **options):
        super().__init__(changed(model, verbose=0, callback=None), examples, folds, deadline, **options)
        self._small = None

    @property
    def n_kernel_evaluations(self):
        return super().n_kernel_evaluations + (0 if self._small is None else self._small.n_kernel_evaluations)

    def cells(self, Cs):
        self._small, n_done = SmallFolds(self.task, self.examples, self.folds, self.deadline), 0
        for cell in self._small.cells(Cs):
            n_done += 1
            yield cell
        if n_done < len(Cs):
            yield from super().cells(Cs[n_done:])


class SVCSearch(CalibratedResult, Search):
    """The search of `KernelSVCCV`: all folds of a kernel on the same kernel rows."""

    _estimator, _grid = KernelSVC, {"Cs": "C", "gammas": "gamma", "kernels": "kernel"}
    _without_probabilities = (
        "a support vector machine does not have: pass calibration='sigmoid' or 'isotonic', or choose a score of labels "
        "or decision values, such as 'accuracy' or 'roc_auc'"
    )

    def _check_own(self):
        check_flag("store_oof_decisions", self.store_oof_decisions)
        check_name("search", self.search, COLUMNS)
        check_number("risk", self.risk, above=0, below=1)
        check_number("factor", self.factor, above=1)
        is_race, is_accuracy = self.search == "race", self.scoring in (None, "accuracy")
        if is_race and not is_accuracy:
            raise ValueError(
                f"search='race' compares whether rows are classified correctly, not scoring={self.scoring!r}: choose "
                "search='exact' or 'halving', or scoring=None"
            )
        if self.certify is not None:
            check_number("certify", self.certify, above=0)
            if not is_accuracy:
                raise ValueError(f"certify bounds the accuracy, not scoring={self.scoring!r}: choose certify=None")
        if is_race and callable(self.refit):
            raise ValueError(
                "search='race' drops cells by its own test: with a function refit choose search='exact' or 'halving', "
                "or pass refit=True"
            )
        if is_race and self.memory is not None:
            raise ValueError("search='race' stores no cells: choose search='exact' or 'halving', or memory=None")
        if is_race and self.warm_start:
            raise ValueError("search='race' keeps no cells: choose search='exact' or 'halving', or warm_start=False")
        if self.calibration is not None:
            check_name("calibration", self.calibration, METHODS)

    def _read(self, X, y, sample_weight):
        model = self._model({"C": self._first_strength(), **checked_grid(self)[1][0]})
        task = KernelTask(model, X, y, sample_weight, all_classes=True)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, task.given)
            if self.search == "race" and len(np.unique(sample_weight[sample_weight > 0])) > 1:
                raise ValueError(
                    "search='race' compares how many rows are classified correctly, and the rows have different "
                    "weights: choose search='exact' or 'halving'"
                )
        classes, labels = task.model.classes_, task.model.classes_[task.codes]
        is_matrix = is_precomputed(self.kernel)
        return Examples(task.given, labels, sample_weight, classes, task.codes, task.weights, is_matrix)

    def _check_size(self, examples, folds):
        n_classes = len(examples.classes)
        check_memory(len(examples.y), len(folds), n_classes * (n_classes - 1) // 2, self.cache_size)

    def _cells(self, examples, folds, scoring):
        if self.calibration is not None:
            check_all_classes_are_held_out(folds, examples)
        # Only one cell's decision values are returned, and scores of single rows need the signs of the others.
        self._signs_only = (
            all(len(fold.test) == 1 for fold in folds)
            and len(examples.classes) == 2
            and self.search == "exact"
            and self.scoring in (None, "accuracy")
            and not callable(self.refit)
            and self.calibration is None
            and self.memory is None
            and self.n_jobs in (None, 1)
            and not (self.store_oof_decisions or self.warm_start)
        )
        return CELLS.get(self.search, GridOfCells)(self, examples, folds, scoring)

    def _parts(self, examples, folds):
        return [list(range(len(folds)))]

    def _source(self, group, examples, folds, deadline, part=None):
        model = self._model({"C": self._first_strength(), **group})
        return PairCells(model, examples, folds, deadline, signs_only=getattr(self, "_signs_only", False))

    def _source_of_task(self, task, examples, folds, deadline):
        """Return what solves cells on some of the rows, with the kernel of all."""
        return PairCells(task.model, examples, folds, deadline, task=task)

    def _drawn_seed(self):
        # Nothing is drawn for other kernels, also not from NumPy's global state.
        gammas = np.atleast_1d(np.asarray(self.gammas, dtype=object))
        return super()._drawn_seed() if "median" in gammas else self.random_state

    def _finish(self, cells):
        if self._signs_only and cells.best is not None:
            self._complete(cells)
        if self.certify is not None and any("scores" in cell for cell in cells.cells):
            certify_finalists(cells, self.certify, cells.deadline)

    def _complete(self, cells):
        """Solve the folds of the best cell that ended when the sign of their held-out row was settled."""
        params, solutions, _ = cells.best
        own = self._model(params), cells.examples, cells.folds, cells.deadline
        source = SVCCells(*own)
        try:
            cell = source.completed(params["C"], solutions)
        except SearchEnded as ended:
            cells.status = ended.args[0]
            return
        finally:
            cells.n_kernel_evaluations += source.n_kernel_evaluations
        cells.n_unconverged += cell.n_unconverged
        cells.best = cells.best._replace(solutions=cell.solutions, held_out=self._held_out(cell.values, cells.examples))

    def _extra_columns(self):
        certified = {} if self.certify is None else {"certified_lower": np.nan, "certified_upper": np.nan}
        return COLUMNS[self.search] | certified

    def _nothing(self, examples):
        n_classes, n = len(examples.classes), len(examples.y)
        nothing = self._held_out(np.zeros((n, n_classes * (n_classes - 1) // 2)), examples)
        if self.calibration is not None:
            nothing.probabilities = np.full((n, n_classes), 1.0 / n_classes)
        return nothing

    def _held_out(self, values, examples):
        """Return the classifier of decision values of pairs of classes."""
        classes = examples.classes
        values = values if len(classes) == 2 else -values  # the earlier class of a pair is positive then
        return HeldOut.of(values, classes, self.decision_function_shape, self.break_ties)

    def _probabilities(self, held_out, folds, examples):
        own = examples.y, examples.classes, examples.sample_weight
        return out_of_fold_probabilities(self.calibration, held_out.class_scores, folds, *own)

    def _fit_best(self, model, cells, X, y, sample_weight):
        _, solutions, _ = cells.best
        task = KernelTask(model, X, y, sample_weight)
        if solutions:  # else the cell was stored, a race ended before, or a function chose it
            task.last = replace(task.last, solutions=_of_pairs(task, solutions), key=task.key)
        if solutions or not fit_small_pairs(task):
            fit_task(task, [model])

    def _take(self, model, cells):
        super()._take(model, cells)
        if self.store_oof_decisions:
            self.oof_decisions_ = cells.all_decisions()
        if self.calibration is not None and cells.best is not None:
            values, examples = cells.best.held_out.class_scores, cells.examples
            rows = np.flatnonzero(np.isfinite(values.reshape(len(values), -1)).all(axis=1))  # those held out
            weights = None if examples.sample_weight is None else examples.sample_weight[rows]
            self.calibration_ = fitted_calibration(
                self.calibration, values[rows], examples.y[rows], examples.classes, weights
            )


def _of_pairs(task, solutions):
    """Return solutions over all rows as those of the problems of `task`, which have the rows of their classes only."""
    result = []
    for problem, solution in zip(task.problems, solutions, strict=True):
        own = problem.pair.of_rows
        state = {"products": own(solution.state["products"])}
        result.append(Solution(own(solution.coef), solution.intercept, state=state))
    return result
