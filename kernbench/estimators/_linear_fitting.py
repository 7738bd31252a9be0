"""The runs of a `LinearSVC`: each class against the rest, along one C or several, within one time budget.

The problems share the rows and nothing else, so ``n_jobs`` threads may work at once: a solver holds no lock while it
advances. Only the main thread hears of Ctrl-C, and only a run on it can show a progress bar.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Event, Lock

import numpy as np
from joblib import effective_n_jobs

from kernbench.estimators._binary import Callbacks, make_design, make_solver
from kernbench.estimators._linear_rows import least_iterations
from kernbench.estimators._linear_start import LinearStart, carried
from kernbench.estimators._outcome import INTERRUPTED, not_started
from kernbench.estimators._parameters import callbacks_of, iteration_limit
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import driver

LOOK_SECONDS = 0.05  # how often the main thread looks for Ctrl-C while others work


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
    start : LinearStart
    data : str
        Digest of rows, labels and weights.
    """

    X: object
    codes: np.ndarray
    positives: list
    weights: np.ndarray | None
    Cs: list
    loss: str
    start: LinearStart
    data: str


class LinearFit:
    """All runs of one fit.

    Parameters
    ----------
    model : LinearSVC
        Gives the parameters.
    entry : SolverEntry
    task : LinearTask
    snapshot : callable
        ``snapshot(positive, solver)`` returns the fitted two-class model as of now.

    Attributes
    ----------
    results : list of list of FitResult
        For each problem those of all Cs. After Ctrl-C the interrupted ones say so, and those that were not begun have
        the status "not started".
    n_inner_products : ndarray of shape (n_problems, n_Cs), int64
    interrupted : bool
    """

    def __init__(self, model, entry, task, snapshot):
        self.model, self.entry, self.task, self.snapshot = model, entry, task, snapshot
        n_coef, shape = task.X.shape[1], (len(task.positives), len(task.Cs))
        self.results = [[not_started(n_coef) for _ in task.Cs] for _ in task.positives]
        self.n_inner_products = np.zeros(shape, dtype=np.int64)
        self.least_iterations = least_iterations(task.X)
        self.stop, self.interrupted, self.callback_lock = Event(), False, Lock()

    def run(self):
        """Do them all."""
        problems = range(len(self.task.positives))
        n_workers = min(effective_n_jobs(self.model.n_jobs), len(problems))
        self.alone = n_workers == 1
        if self.alone:
            self._solve(problems)
            return
        # One limit around all of them: threads that set and reset it would undo each other's.
        with single_threaded_blas(), ThreadPoolExecutor(n_workers) as pool:
            workers = [pool.submit(self._solve, problems[k::n_workers]) for k in range(n_workers)]
            while not all(worker.done() for worker in workers):
                try:
                    wait(workers, timeout=LOOK_SECONDS)
                except KeyboardInterrupt:
                    self._interrupt()
            for worker in workers:
                worker.result()

    def _interrupt(self):
        self.interrupted = True
        self.stop.set()

    def _solve(self, problems):
        """Solve some of the problems, one after the other; time that one does not need is for those that come."""
        design, left = make_design(self.task.X, self.model._twin), self.model.max_seconds
        n_runs = len(problems) * len(self.task.Cs)
        try:
            for k in problems:
                y = np.where(self.task.codes == self.task.positives[k], 1.0, -1.0)
                initial = self.task.start.initial(k, self.task.data, design.n_coef)
                for c in range(len(self.task.Cs)):
                    if self.stop.is_set():
                        return
                    result = self._run(k, c, design, y, initial, None if left is None else left / n_runs)
                    left = None if left is None else max(0.0, left - result.seconds)
                    n_runs, initial = n_runs - 1, carried(result.solution)
        except BaseException:
            self.stop.set()
            raise

    def _run(self, k, c, design, y, initial, seconds):
        task, model = self.task, self.model
        settings = {
            "alpha": 1.0 / (task.Cs[c] * len(y)),
            "weights": task.weights,
            "loss": task.loss,
            "random_state": task.start.generators[k],
            "initial": initial,
        }
        options = model.solver_options
        solver = make_solver(self.entry, design, y, settings, tol=model.tol, options=options, twin=model._twin)
        if "min_iter" not in (options or {}) and hasattr(solver, "min_iter"):
            solver.min_iter = solver.n_iter + self.least_iterations
        lock = nullcontext() if self.alone else self.callback_lock
        positive = task.positives[k]
        callbacks = Callbacks(callbacks_of(model), lambda solver: self.snapshot(positive, solver))

        def call(solver):
            with lock:
                return callbacks(solver)

        result = driver.run(
            solver if self.alone else _Stoppable(solver, self.stop),
            max_iter=iteration_limit(model, self.entry, len(y)),
            tol=model.tol,
            max_seconds=seconds,
            callback=call if callbacks_of(model) else None,
            progress=self._title(positive, task.Cs[c]) if model.verbose and self.alone else False,
        )
        if callbacks.interrupted:
            result = replace(result, status=INTERRUPTED)
        if result.status == INTERRUPTED:
            self._interrupt()
        self.results[k][c], self.n_inner_products[k, c] = result, solver.n_inner_products
        return result

    def _title(self, positive, C):
        title = f"{type(self.model).__name__} {self.model.solver}"
        if len(self.model.classes_) > 2:
            title += f": {self.model.classes_[positive]} against the rest"
        return title if len(self.task.Cs) == 1 else f"{title}, C={C:g}"


class _Stoppable:
    """A solver on another thread than the main one: it ends, between two chunks of iterations, when all are to."""

    def __init__(self, solver, stop):
        self._solver, self._stop = solver, stop

    def __getattr__(self, name):
        return getattr(self._solver, name)

    def advance(self, n_iter):
        if self._stop.is_set():
            raise KeyboardInterrupt
        return self._solver.advance(n_iter)
