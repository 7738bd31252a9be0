"""The cells of a search: which were solved, their scores, and the best one so far."""

import warnings
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.exceptions import ConvergenceWarning

from kernbench._callbacks import current_report
from kernbench.estimators.search.calibration import fitted_calibration, out_of_fold_probabilities
from kernbench.estimators.search.certificate import certify_finalists
from kernbench.estimators.search.held_out import HeldOut
from kernbench.estimators.search.one_kernel import SearchEnded
from kernbench.estimators.search.store import StoredCells
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.solvers.progress import progress_bar

ENDED = {"interrupted": "it was interrupted", "callback": "a callback stopped it"}  # else the time was up


class GridOfCells:
    """The cells of a grid and the best one so far.

    Parameters
    ----------
    search : KernelSVCCV
    task : KernelTask
        Of the first gamma.
    sample_weight : ndarray of shape (n,), or None
    folds : list of Fold
    scoring : Scoring
    data : tuple
        X and y as given to ``fit``.

    Attributes
    ----------
    cells : list of dict
        As for `results_of`, in the order of scikit-learn's ``ParameterGrid``.
    best_index : int
    best : tuple
        C, gamma, the solutions for all rows and the `HeldOut` classifier; None if no cell was finished.
    status : str or None
        What ended the search early.
    """

    def __init__(self, search, task, sample_weight, folds, scoring, data):
        self.search, self.task, self.sample_weight, self.folds = search, task, sample_weight, folds
        self.scoring, self.data, self.status = scoring, data, None
        self.n_kernel_evaluations = self.n_unconverged = 0

    def run(self, Cs, gammas):
        """Solve all cells; the grid is in the order of scikit-learn's ``ParameterGrid``."""
        self.cells = [{"params": {"C": C, "gamma": gamma}} for C in Cs for gamma in gammas]
        limit = self.search.max_seconds
        deadline = np.inf if limit is None else perf_counter() + limit
        self.best_rank = None  # mean score, and minus the index: of equal cells the first is the best
        self.best_index = self.best = None
        title = "KernelSVCCV: cells" if self.search.verbose else False
        with progress_bar(title, len(self.cells), objective=False) as bar:
            try:
                self._run_kernels(Cs, gammas, deadline, bar)
            except SearchEnded as ended:
                self.status = ended.args[0]
            except KeyboardInterrupt:
                self.status = "interrupted"
        if self.search.certify is not None and any("scores" in cell for cell in self.cells):
            certify_finalists(self, self.search.certify, deadline)

    def _run_kernels(self, Cs, gammas, deadline, bar):
        ascending = sorted(Cs)
        if len(gammas) > 1 and effective_n_jobs(self.search.n_jobs) > 1:
            self._run_in_parallel(Cs, gammas, deadline, bar)
            return
        for g, gamma in enumerate(gammas):
            task = self.task_of(gamma, first=g == 0)
            kernel = StoredCells(task, self.sample_weight, self.folds, deadline, self.search.memory)
            with self._counting(kernel):
                for C, cell in kernel.cells(ascending):
                    self._add(Cs.index(C) * len(gammas) + g, cell, task)
                    self._show(bar)

    def _run_in_parallel(self, Cs, gammas, deadline, bar):
        """Solve kernels side by side; each worker computes the task of its own."""
        left, own = deadline - perf_counter(), (self.data, self.sample_weight, self.folds, sorted(Cs))
        work = (
            delayed(_cells_of)(g, self.search._model(Cs[0], gamma), *own, left, self.search.memory)
            for g, gamma in enumerate(gammas)
        )
        ended = None
        for g, cells, status, n_evaluations in Parallel(n_jobs=self.search.n_jobs, return_as=_order_of_returns())(work):
            self.n_kernel_evaluations += n_evaluations
            for C, cell in cells:
                self._add(Cs.index(C) * len(gammas) + g, cell, self.task)
            self._show(bar)
            ended = ended or status
        if ended is not None:
            raise SearchEnded(ended)

    def _show(self, bar):
        done = sum("scores" in cell for cell in self.cells)
        if self.best is not None:
            mean = self.cells[self.best_index]["scores"][self.scoring.decides].mean()
            bar.describe(f"best {mean:.4g} at C={self.best[0]:g}, gamma={self.best[1]}")
        bar.tick(done)

    def task_of(self, gamma, first=False):
        """Return the task of a gamma; that of the first was made to check the data."""
        if first:
            return self.task
        return KernelTask(self.search._model(self.task.model.C, gamma), *self.data, self.sample_weight)

    @contextmanager
    def _counting(self, kernel):
        """Count the kernel values of a `OneKernel`, also where the search ends."""
        try:
            yield
        finally:
            self.n_kernel_evaluations += kernel.n_kernel_evaluations

    def _add(self, index, cell, task):
        """Score a cell; keep its solutions if it is the best so far."""
        start, own = perf_counter(), self.cells[index]
        held_out = self._held_out(cell.values, calibrated=True)
        own["scores"] = self.scoring.of(held_out, self.folds, self.task.model.classes_[task.codes])
        own["score_seconds"] = np.full(len(self.folds), (perf_counter() - start) / len(self.folds))
        own["fit_seconds"] = cell.seconds
        self._note(index, own, held_out, cell)
        name = f"C={own['params']['C']:g}, gamma={own['params']['gamma']}"
        if current_report().part_done(index, name):
            raise SearchEnded("callback")

    def _note(self, index, own, held_out, cell):
        """Keep what is needed of a cell."""
        self.n_unconverged += cell.n_unconverged
        if self.search.store_oof_decisions:
            own["decisions"] = held_out.decisions
        if self.scoring.decides is None:
            own["held_out"] = held_out  # which cell is the best is not known before all are done
            return
        mean = own["scores"][self.scoring.decides].mean()
        rank = (-np.inf if np.isnan(mean) else mean, -index)
        if self.best_rank is None or rank > self.best_rank:
            self.best_rank = rank
            self.best_index = index
            self.best = (own["params"]["C"], own["params"]["gamma"], cell.solutions, held_out)

    def choose(self, index):
        """Make a finished cell the best one."""
        own = self.cells[index]
        if "held_out" not in own:
            raise ValueError(f"refit returned {index}, a cell that was not finished")
        self.best_index = index
        self.best = (own["params"]["C"], own["params"]["gamma"], None, own["held_out"])

    def all_decisions(self):
        """Return the out-of-fold decision values of all cells; NaN for those that were not finished."""
        found = [cell.get("decisions") for cell in self.cells]
        nothing = np.full_like(next(values for values in found if values is not None), np.nan)
        return np.array([nothing if values is None else values for values in found])

    def calibration(self):
        """Return the calibration of the best cell's out-of-fold decision values, see `fitted_calibration`."""
        values, classes = self.best[3].class_scores, self.task.model.classes_
        rows = np.flatnonzero(np.isfinite(values.reshape(len(values), -1)).all(axis=1))  # those that were held out
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        labels = classes[self.task.codes[rows]]
        return fitted_calibration(self.search.calibration, values[rows], labels, classes, weights)

    def check_finished(self):
        """Raise an error unless a cell was finished."""
        if any("fit_seconds" in cell for cell in self.cells):
            return
        if self.status == "interrupted":
            raise KeyboardInterrupt
        raise ValueError(
            f"max_seconds={self.search.max_seconds:g} ended the search before its first cell was finished: raise it, "
            "or choose fewer folds"
        )

    def _held_out(self, values, calibrated=False):
        """Return the classifier of decision values of pairs of classes."""
        search, classes = self.search, self.task.model.classes_
        values = values if len(classes) == 2 else -values  # the earlier class of a pair is positive then
        held_out = HeldOut.of(values, classes, search.decision_function_shape, search.break_ties)
        if calibrated and self.scoring.needs_probabilities:
            labels = classes[self.task.codes]
            held_out.probabilities = out_of_fold_probabilities(
                search.calibration, held_out.class_scores, self.folds, labels, classes, self.sample_weight
            )
        return held_out

    def warn(self):
        """Warn of a search that ended early and of fits that did not converge."""
        if self.status is not None:
            done, why = sum("scores" in cell for cell in self.cells), ENDED.get(self.status, "max_seconds was used up")
            warnings.warn(
                f"The search ended after {done} of {len(self.cells)} cells, for {why}: the best of these was taken. "
                "Raise max_seconds, or shorten Cs or gammas.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.n_unconverged:
            warnings.warn(
                f"{self.n_unconverged} fits of the search did not reach tol={self.search.tol:g}: raise max_iter or "
                "tol, or leave out the largest Cs.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _cells_of(g, model, data, sample_weight, folds, Cs, seconds, folder):
    """Return, of the kernel number `g`, the finished cells by C, why the search ended early, and the kernel values."""
    cells, status = [], None
    task, deadline = KernelTask(model, *data, sample_weight), perf_counter() + seconds
    kernel = StoredCells(task, sample_weight, folds, deadline, folder)
    try:
        for C, cell in kernel.cells(Cs):
            cells.append((C, replace(cell, of_folds=[])))
    except SearchEnded as ended:
        status = ended.args[0]
    return g, cells, status, kernel.n_kernel_evaluations


def _order_of_returns():
    """Return kernels as they are finished where the backend can, so that Ctrl-C loses none of these."""
    can = getattr(get_active_backend()[0], "supports_return_generator", False)
    return "generator_unordered" if can else "list"
