"""The cells of a path by the fits of an estimator to the training part of each fold.

    for each strength, in the order of the path:
        for each fold:  fit its training part, from its solution for the strength before; predict its held-out rows

So a cell is finished, and survives Ctrl-C, before the next one begins. What a fold's solver works on, kernel rows or
features, stays in memory from one strength to the next if those of all folds fit; else it is made again.
"""

from dataclasses import replace
from time import perf_counter

import numpy as np
import psutil
from scipy import sparse

from kernbench._callbacks import silent
from kernbench.estimators.fit.folding import assembled
from kernbench.estimators.fit.outcome import QUIET
from kernbench.estimators.fit.runs import Runs
from kernbench.estimators.search.one_kernel import UNFINISHED, Cell, SearchEnded

KEPT_SHARE = 0.5  # of the free memory that the data of all folds may take
NOT_OF_A_FIT = ("C", "alpha", "max_seconds", "cache_size", "warm_start", "n_jobs", "callback", "verbose")


class FoldPaths:
    """The cells of one estimator along C or alpha.

    Parameters
    ----------
    search : Search
        Gives tasks and predictions.
    model : estimator
        Has all parameters but the strength.
    examples : Examples
    folds : list of Fold
    deadline : float
        Time of ``perf_counter`` at which the search ends.
    which : list of int, optional
        Folds to solve, all by default.

    Attributes
    ----------
    stop : threading.Event or None
        Ends the search once it is set.
    """

    stop = None

    def __init__(self, search, model, examples, folds, deadline, which=None):
        self.search, self.model, self.examples, self.folds, self.deadline = search, model, examples, folds, deadline
        self.which = list(range(len(folds))) if which is None else which
        self.n_kernel_evaluations = 0
        self._is_kept = None  # whether the data of all folds fit into memory

    @property
    def identity(self):
        """What the numbers of a cell depend on, besides its strength."""
        return identity_of(self.model, self.examples, self.folds)

    @property
    def shape(self):
        """Shape of the values of a cell."""
        return self.examples.shape

    def cells(self, strengths):
        """Yield the `Cell` of each strength, in the order of the path; raise `SearchEnded` where it is cut short."""
        paths = {j: _FoldPath(self, self.folds[j]) for j in self.which}
        for strength in strengths:
            cell = Cell(np.full(self.shape, np.nan), seconds=np.zeros(len(self.folds)))
            for j, path in paths.items():
                self._solve(j, path, strength, cell)
                if self._is_kept is None:
                    free = psutil.virtual_memory().available
                    self._is_kept = len(paths) * path.n_bytes <= KEPT_SHARE * free
                if not self._is_kept:
                    path.release()
            yield cell

    def _solve_alone(self, j, strength, cell):
        """Add the fit to fold j, which is on no path, to a cell."""
        self._solve(j, _FoldPath(self, self.folds[j]), strength, cell)

    def _solve(self, j, path, strength, cell):
        """Add the fit to fold j to a cell."""
        begin = perf_counter()
        if begin >= self.deadline:
            raise SearchEnded("max_seconds")
        with silent():
            model, results = path.fit(strength, self.deadline - begin)
        self.n_kernel_evaluations += sum(result.n_kernel_evaluations for result in results)
        cell.n_unconverged += sum(result.status not in QUIET for result in results)
        cell.seconds[j] += perf_counter() - begin
        fold = self.folds[j]
        values = self.search._decisions(model, self.examples.held_out(fold))
        cell.values[fold.test] = values.reshape(len(fold.test), -1)


def identity_of(model, examples, folds):
    """Return what the fits of a model to the folds depend on, besides C or alpha."""
    parameters = {k: v for k, v in model.get_params(deep=False).items() if k not in NOT_OF_A_FIT}
    parameters["kernel"] = repr(parameters.get("kernel"))
    parts = [(fold.train, fold.test) for fold in folds]
    return (type(model).__name__, parameters, examples.X, examples.y, examples.sample_weight, parts)


class _FoldPath:
    """The fits to the training part of one fold."""

    def __init__(self, paths, fold):
        self.paths, self.fold, self.task, self.data, self.last = paths, fold, None, None, None
        self.before = None  # the last strength with its results

    def fit(self, strength, seconds):
        """Return the model of a strength, and the outcome of its runs."""
        paths = self.paths
        task = self.task if self.task is not None else self._begin(strength)
        setattr(task.model, paths.search._strength, strength)
        if self.before is not None and paths.search._continues:
            earlier, results = self.before
            starts = [
                problem.next_start(result.solution, earlier, strength)
                for problem, result in zip(task.problems, results, strict=True)
            ]
            task.last = replace(task.continuation(results), solutions=starts)
        task.model.max_seconds = None if seconds == np.inf else seconds
        runs = Runs(task, [strength], self.data, paths.stop)
        (results,) = runs.run()
        self._check_finished(runs, results)
        model = paths.search._with(paths.model, strength)
        task.share(model)
        results = assembled(task, model, results)
        self.before = strength, results
        return model, results

    def _begin(self, strength):
        """Make the task, and the data of its solver."""
        paths = self.paths
        model = paths.search._with(paths.model, strength)
        task = paths.search._make_task(model, *paths.examples.training(self.fold))
        self.task, self.data = task, task.problems[0].make_data()
        if self.last is not None:  # the draws continue
            task.last = self.last
        return task

    def _check_finished(self, runs, results):
        if runs.stop.is_set():
            raise SearchEnded("interrupted")
        if any(result.status in UNFINISHED for result in results):
            raise SearchEnded("max_seconds")

    @property
    def n_bytes(self):
        """About how much memory the rows and the data of the solver take."""
        task, size = self.task, size_of(self.paths.examples.X)
        if task.n_values is not None:
            return size + 12 * task.n_values
        data = getattr(self.data, "X", self.data)
        if sparse.issparse(data) or isinstance(data, np.ndarray):
            return size + size_of(data)
        values = 8 * task.problems[0].n_rows * task.problems[0].n_coef
        if hasattr(self.data, "shared"):  # the whole matrix, and a factor of it
            return size + 2 * values
        cache_size = getattr(self.paths.model, "cache_size", None)
        return size + (values if cache_size is None else min(values, int(cache_size * 2**20)))

    def release(self):
        """Free that memory."""
        self.last, self.task, self.data = self.task.last, None, None


def size_of(X):
    """Return the bytes of rows."""
    return X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
