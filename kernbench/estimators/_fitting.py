"""The fit of all two-class problems, along one C or several, within one time budget.

They share nothing but the clock, so ``n_jobs`` threads may work on them at once: each takes the next problem
when it is done with one. Kernel rows belong to one thread; where all problems are on the same examples (one
against the rest, and the Cs of a path) it keeps them from one run to the next.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from threading import Event, Lock

import numpy as np
from joblib import effective_n_jobs

from kernbench.estimators._binary import Callbacks, make_rows, make_solver
from kernbench.estimators._outcome import INTERRUPTED, not_started
from kernbench.estimators._parameters import callbacks_of, iteration_limit
from kernbench.estimators._training_data import without_empty_columns
from kernbench.estimators._warm_start import Continuation, carried
from kernbench.kernels.threads import n_openmp_threads, openmp_threads, single_threaded_blas
from kernbench.solvers import driver
from kernbench.solvers.progress import progress_bar

LOOK_SECONDS = 0.05  # how often the main thread looks for Ctrl-C while others work


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
    data : str
        Digest of the examples.
    """

    X: object
    pairs: list
    weights: np.ndarray | None
    Cs: list
    start: Continuation
    data: str


def fit_pairs(model, entry, task, snapshot):
    """Solve every two-class problem for every C, each C from the solution before it.

    Parameters
    ----------
    model : KernelSVC
        Gives the parameters, and ``kernel_``, ``dtype_`` and ``classes_``.
    entry : SolverEntry
    task : Task
    snapshot : callable
        ``snapshot(pair, solver)`` returns the fitted model of `pair` as of now.

    Returns
    -------
    results : list of list of FitResult
        For each C those of all problems. After Ctrl-C the interrupted ones say so, and those that were not
        begun have the status "not started".
    interrupted : bool
    """
    return _Fit(model, entry, task, snapshot).run()


class _Fit:
    def __init__(self, model, entry, task, snapshot):
        self.model, self.entry, self.task, self.snapshot = model, entry, task, snapshot
        self.results = [[not_started(len(pair.y)) for _ in task.Cs] for pair in task.pairs]
        self.n_workers = min(effective_n_jobs(model.n_jobs), len(task.pairs))
        self.n_begun = self.n_done = 0
        self.lock, self.callback_lock = Lock(), Lock()
        self.stop = Event()  # by Ctrl-C, or since a thread failed
        self.interrupted = False

    def run(self):
        if self.n_workers == 1:
            self._work()
        else:
            self._work_at_once()
        return [list(column) for column in zip(*self.results, strict=True)], self.interrupted

    def _work_at_once(self):
        title = f"{type(self.model).__name__} {self.model.solver}: problems" if self.model.verbose else False
        # One limit around all of them: threads that set and reset it would undo each other's.
        with (
            single_threaded_blas(),
            ThreadPoolExecutor(self.n_workers) as pool,
            progress_bar(title, len(self.task.pairs), objective=False) as bar,
        ):
            n_threads = max(1, n_openmp_threads() // self.n_workers)
            workers = [pool.submit(self._work_with_threads, n_threads) for _ in range(self.n_workers)]
            while not all(worker.done() for worker in workers):
                try:
                    wait(workers, timeout=LOOK_SECONDS)
                    bar.tick(self.n_done)
                except KeyboardInterrupt:  # only the main thread hears of it
                    self._interrupt()
            bar.tick(self.n_done, now=True)
            for worker in workers:
                worker.result()

    def _work_with_threads(self, n_threads):
        with openmp_threads(n_threads):
            self._work()

    def _work(self):
        """Take problems and solve them until there are no more."""
        left, rows = self.model.max_seconds, None
        same_examples = all(pair.negative is None for pair in self.task.pairs)
        try:
            while (turn := self._next_turn()) is not None:
                k, n_turns = turn
                if rows is None or not same_examples:
                    rows = None  # first the old ones out of memory
                    rows = self._rows(self.task.pairs[k])
                # Time that a problem does not need is for those that come.
                seconds = self._solve_path(k, rows, None if left is None else left / n_turns)
                left = None if left is None else max(0.0, left - seconds)
                with self.lock:
                    self.n_done += 1
        except BaseException:
            self.stop.set()
            raise

    def _next_turn(self):
        """The next problem, and how many turns this thread has at the most, this one included."""
        with self.lock:
            k = self.n_begun
            if k == len(self.task.pairs) or self.stop.is_set():
                return None
            self.n_begun += 1
        return k, -(-(len(self.task.pairs) - k) // self.n_workers)

    def _interrupt(self):
        self.interrupted = True
        self.stop.set()

    def _rows(self, pair):
        model = self.model
        return make_rows(
            without_empty_columns(pair.examples(self.task.X, model.kernel), model.kernel_),
            model.kernel_,
            cache_size=model.cache_size,
            dtype=model.dtype_,
            twin=model._twin,
        )

    def _solve_path(self, k, rows, budget):
        """Solve problem k for every C within `budget` seconds; return those it took."""
        task, pair, taken = self.task, self.task.pairs[k], 0.0
        initial = task.start.initial(k, pair.y, self.model.kernel_, task.data)
        for c, C in enumerate(task.Cs):
            if self.stop.is_set():
                break
            if c > 0:
                last = self.results[k][c - 1].solution
                initial = carried(last, task.Cs[c - 1], C, pair.of_rows(task.weights))
            seconds = None if budget is None else max(0.0, budget - taken) / (len(task.Cs) - c)
            result = self._run(k, rows, C, initial, seconds)
            self.results[k][c] = result
            taken += result.seconds
            if result.status == INTERRUPTED:
                self._interrupt()
        return taken

    def _run(self, k, rows, C, initial, seconds):
        model, pair = self.model, self.task.pairs[k]
        settings = {
            # A slack budget `nu` takes the place of alpha where a solver has one.
            "alpha": None if "nu" in (model.solver_options or {}) else 1.0 / (C * rows.n_rows),
            "weights": pair.of_rows(self.task.weights),
            "fit_intercept": model.fit_intercept,
            "random_state": self.task.start.generators[k],
            "initial": initial,
        }
        if model.loss != "hinge":
            settings["loss"] = model.loss
        # The reference twins count for themselves, and have no rows to go on from.
        counted = rows.n_evaluations if model._twin == "compiled" else 0
        solver = make_solver(
            self.entry, rows, pair.y, settings, tol=model.tol, options=model.solver_options, twin=model._twin
        )
        solver = _OneOfMany(solver, counted, self.stop if self.n_workers > 1 else None)
        lock = self.callback_lock if self.n_workers > 1 else nullcontext()
        callbacks = Callbacks(callbacks_of(model), lambda solver: self.snapshot(pair, solver))

        def call(solver):
            with lock:
                return callbacks(solver)

        result = driver.run(
            solver,
            max_iter=iteration_limit(model, self.entry, len(pair.y)),
            tol=model.tol,
            max_seconds=seconds,
            callback=call if callbacks_of(model) else None,
            progress=self._title(pair, C) if model.verbose and self.n_workers == 1 else False,
        )
        if hasattr(rows, "release"):
            rows.release()  # a solver that narrowed its view of the rows leaves them so
        return replace(result, status=INTERRUPTED) if callbacks.interrupted else result

    def _title(self, pair, C):
        model = self.model
        title = f"{type(model).__name__} {model.solver}"
        if len(model.classes_) > 2:
            rest = "the rest" if pair.negative is None else model.classes_[pair.negative]
            first, second = (model.classes_[pair.positive], rest)[:: 1 if pair.negative is None else -1]
            title += f": {first} against {second}"
        return title if len(self.task.Cs) == 1 else f"{title}, C={C:g}"


class _OneOfMany:
    """A solver on rows that others used before it: it counts its own evaluations, and ends when all are to.

    Parameters
    ----------
    solver : Solver
    counted : int
        Evaluations that are not its own.
    stop : Event, optional
        Ctrl-C reaches the main thread only; others see it here, between two chunks of iterations.
    """

    def __init__(self, solver, counted, stop):
        self._solver, self._counted, self._stop = solver, counted, stop

    def __getattr__(self, name):
        return getattr(self._solver, name)

    @property
    def n_kernel_evaluations(self):
        return self._solver.n_kernel_evaluations - self._counted

    def advance(self, n_iter):
        if self._stop is not None and self._stop.is_set():
            raise KeyboardInterrupt
        return self._solver.advance(n_iter)
