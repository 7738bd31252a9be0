"""The cells of a search over C and gamma, solved one kernel after the other."""

import warnings
from contextlib import contextmanager
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernbench.estimators.search.held_out import HeldOut
from kernbench.estimators.search.one_kernel import OneKernel, SearchEnded
from kernbench.estimators.svm.kernel_task import KernelTask
from kernbench.solvers.progress import progress_bar


class GridOfCells:
    """The cells of a grid and the best one so far.

    Parameters
    ----------
    search : KernelSVCCV
    task : KernelTask
        Of the first gamma.
    sample_weight : ndarray of shape (n,), or None
    folds : list of Fold
    scorer : callable
    data : tuple
        X and y as given to ``fit``.

    Attributes
    ----------
    cells : list of dict
        As for `results_of`, in the order of scikit-learn's ``ParameterGrid``.
    best_index : int
    best : tuple
        C, gamma, the solutions for all rows and the out-of-fold decision values; None if no cell was finished.
    status : str or None
        What ended the search early.
    """

    def __init__(self, search, task, sample_weight, folds, scorer, data):
        self.search, self.task, self.sample_weight, self.folds = search, task, sample_weight, folds
        self.scorer, self.data, self.status = scorer, data, None
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

    def _run_kernels(self, Cs, gammas, deadline, bar):
        order = np.argsort(Cs, kind="stable")
        for g, gamma in enumerate(gammas):
            task = self._task_of(gamma, first=g == 0)
            kernel = OneKernel(task, self.sample_weight, self.folds, deadline)
            with self._counting(kernel):
                for c, cell in zip(order, kernel.cells([Cs[c] for c in order]), strict=True):
                    self._add(c * len(gammas) + g, cell, task)
                    bar.tick(sum("scores" in one for one in self.cells))

    def _task_of(self, gamma, first=False):
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
        held_out = self._held_out(cell.values)
        start, own = perf_counter(), self.cells[index]
        own["scores"] = held_out.scores(self.scorer, self.folds, self.task.model.classes_[task.codes])
        own["score_seconds"] = np.full(len(self.folds), (perf_counter() - start) / len(self.folds))
        own["fit_seconds"] = cell.seconds
        self.n_unconverged += cell.n_unconverged
        mean = own["scores"].mean()
        rank = (-np.inf if np.isnan(mean) else mean, -index)
        if self.best_rank is None or rank > self.best_rank:
            self.best_rank = rank
            self.best_index = index
            self.best = (own["params"]["C"], own["params"]["gamma"], cell.solutions, held_out.decisions)

    def _held_out(self, values):
        """Return the classifier of decision values of pairs of classes."""
        search, classes = self.search, self.task.model.classes_
        values = values if len(classes) == 2 else -values  # the earlier class of a pair is positive then
        return HeldOut.of(values, classes, search.decision_function_shape, search.break_ties)

    def warn(self):
        """Warn of a search that ended early and of fits that did not converge."""
        if self.status is not None:
            done, why = sum("scores" in cell for cell in self.cells), "max_seconds was used up"
            if self.status == "interrupted":
                why = "it was interrupted"
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
