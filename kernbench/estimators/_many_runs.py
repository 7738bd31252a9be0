"""The runs of several two-class problems, each along one C or several, within one time budget.

They share nothing but the clock, so ``n_jobs`` threads may work on them at once: each takes the next problem
when it is done with one, and a solver holds no lock while it advances. Only the main thread hears of Ctrl-C,
and only a run on it can show a progress bar of its own.
"""

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import replace
from threading import Event, Lock

from joblib import effective_n_jobs

from kernbench.estimators._binary import Callbacks
from kernbench.estimators._outcome import INTERRUPTED, not_started
from kernbench.estimators._parameters import callbacks_of, iteration_limit
from kernbench.kernels.threads import n_openmp_threads, openmp_threads, single_threaded_blas
from kernbench.solvers import driver
from kernbench.solvers.progress import progress_bar

LOOK_SECONDS = 0.05  # how often the main thread looks for Ctrl-C while others work


class ManyRuns(ABC):
    """All runs of one fit, each C from the solution before it.

    Parameters
    ----------
    model : KernelSVC or LinearSVC
        Gives the parameters, and ``classes_``.
    entry : SolverEntry
    problems : list
        What tells one two-class problem from another.
    Cs : sequence of float
    n_coef : sequence of int
        Of each problem.
    snapshot : callable
        ``snapshot(problem, solver)`` returns the fitted two-class model as of now.

    Attributes
    ----------
    interrupted : bool
        By Ctrl-C.
    """

    shares_data = True  # whether all problems are on the same rows, so that a thread keeps them

    def __init__(self, model, entry, problems, Cs, n_coef, snapshot):
        self.model, self.entry, self.problems, self.Cs, self.snapshot = model, entry, problems, Cs, snapshot
        self.results = [[not_started(n) for _ in Cs] for n in n_coef]
        self.n_workers = min(effective_n_jobs(model.n_jobs), len(problems)) if len(problems) > 1 else 1
        self.n_begun = self.n_done = 0
        self.lock, self.callback_lock = Lock(), Lock()
        self.stop = Event()  # by Ctrl-C, or since a thread failed
        self.interrupted = False

    @abstractmethod
    def make_data(self, k):
        """Return the kernel rows or the design that problem k is solved on."""

    @abstractmethod
    def labels(self, k):
        """Return the labels of problem k, 1.0 and -1.0."""

    @abstractmethod
    def first_start(self, k, y, data):
        """Return the solution that problem k starts from, or None."""

    @abstractmethod
    def next_start(self, k, c):
        """Return the solution that problem k starts from with the C of number `c` > 0."""

    @abstractmethod
    def make_solver(self, k, c, data, y, initial):
        """Return the solver of problem k for the C of number `c`."""

    @abstractmethod
    def title(self, k):
        """Return the words that tell problem k from the others."""

    def finish(self, k, c, data, solver):  # noqa: B027, most have nothing to do here
        """Look at a solver after its run."""

    def run(self):
        """Do them all.

        Returns
        -------
        list of list of FitResult
            For each C those of all problems. After Ctrl-C the interrupted ones say so, and those that were
            not begun have the status "not started".
        """
        # One limit around all of them: threads that set and reset it would undo each other's.
        with single_threaded_blas():
            if self.n_workers == 1:
                self._work()
            else:
                self._work_at_once()
        return [list(column) for column in zip(*self.results, strict=True)]

    def _work_at_once(self):
        title = f"{type(self.model).__name__} {self.model.solver}: problems" if self.model.verbose else False
        with (
            ThreadPoolExecutor(self.n_workers) as pool,
            progress_bar(title, len(self.problems), objective=False) as bar,
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
        left, data = self.model.max_seconds, None
        try:
            while (turn := self._next_turn()) is not None:
                k, n_turns = turn
                if data is None or not self.shares_data:
                    data = None  # first the old ones out of memory
                    data = self.make_data(k)
                # Time that a problem does not need is for those that come.
                seconds = self._solve_path(k, data, None if left is None else left / n_turns)
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
            if k == len(self.problems) or self.stop.is_set():
                return None
            self.n_begun += 1
        return k, -(-(len(self.problems) - k) // self.n_workers)

    def _interrupt(self):
        self.interrupted = True
        self.stop.set()

    def _solve_path(self, k, data, budget):
        """Solve problem k for every C within `budget` seconds; return those it took."""
        y, taken = self.labels(k), 0.0
        initial = self.first_start(k, y, data)
        for c in range(len(self.Cs)):
            if self.stop.is_set():
                break
            if c > 0:
                initial = self.next_start(k, c)
            seconds = None if budget is None else max(0.0, budget - taken) / (len(self.Cs) - c)
            result = self._run(k, c, data, y, initial, seconds)
            self.results[k][c] = result
            taken += result.seconds
            if result.status == INTERRUPTED:
                self._interrupt()
        return taken

    def _run(self, k, c, data, y, initial, seconds):
        model, alone = self.model, self.n_workers == 1
        solver = self.make_solver(k, c, data, y, initial)
        lock = nullcontext() if alone else self.callback_lock
        callbacks = Callbacks(callbacks_of(model), lambda solver: self.snapshot(self.problems[k], solver))

        def call(solver):
            with lock:
                return callbacks(solver)

        result = driver.run(
            solver if alone else _Stoppable(solver, self.stop),
            max_iter=iteration_limit(model, self.entry, len(y)),
            tol=model.tol,
            max_seconds=seconds,
            callback=call if callbacks_of(model) else None,
            progress=self._full_title(k, self.Cs[c]) if model.verbose and alone else False,
        )
        self.finish(k, c, data, solver)
        return replace(result, status=INTERRUPTED) if callbacks.interrupted else result

    def _full_title(self, k, C):
        title = f"{type(self.model).__name__} {self.model.solver}"
        if len(self.model.classes_) > 2:
            title += f": {self.title(k)}"
        return title if len(self.Cs) == 1 else f"{title}, C={C:g}"


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
