"""The runs of a fit: several problems, each along a path of strengths, within one time budget.

Problems share only the time budget, so ``n_jobs`` threads may work on them at once: each takes the next problem after
finishing one, and a solver holds no lock while it advances. Only the main thread receives Ctrl-C, and only a run on it
can show its own progress bar.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from threading import Event, Lock

import numpy as np
from joblib import effective_n_jobs

from kernbench._callbacks import current_report
from kernbench.estimators.arguments.parameters import callbacks_of
from kernbench.estimators.fit.certificate import certified
from kernbench.estimators.fit.outcome import INTERRUPTED, NOT_STARTED, STOPPED_BY_USER
from kernbench.estimators.fit.problem import snapshot_of
from kernbench.estimators.fit.smaller_strength import better_of_smaller, may_be_far
from kernbench.estimators.fit.widening import RunData, is_too_rounded, joined, may_widen, start_of
from kernbench.kernels.threads import n_openmp_threads, openmp_threads, single_threaded_blas
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.progress import progress_bar

LOOK_SECONDS = 0.05  # interval at which the main thread checks for Ctrl-C while others work


class Runs:
    """The runs of a task.

    Parameters
    ----------
    task : Task
    strengths : sequence of float
        In the order of the path; each run starts from the previous solution.
    data : object, optional
        What the solvers of all problems work on, from an earlier call; by default each thread makes its own.
    stop : threading.Event, optional
        Ends the runs as Ctrl-C does once it is set.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended the runs.
    """

    def __init__(self, task, strengths, data=None, stop=None):
        self.task, self.model, self.strengths, self.data = task, task.model, strengths, data
        n_problems = len(task.problems)
        self.results = [[None] * len(strengths) for _ in range(n_problems)]
        self.n_workers = min(effective_n_jobs(task.n_jobs), n_problems) if n_problems > 1 else 1
        self.n_begun = self.n_done = 0
        self.report = current_report()
        self.lock = Lock()
        self.stop = Event() if stop is None else stop  # also set by Ctrl-C, or when a thread fails
        self.interrupted = False
        self.callbacks = [*task.callbacks, *callbacks_of(self.model)]
        if self.callbacks and self.n_workers > 1:
            lock = Lock()
            self.callbacks = [_one_at_a_time(callback, lock) for callback in self.callbacks]

    def run(self):
        """Solve all problems for all strengths.

        Returns
        -------
        list of list of FitResult
            For each strength those of all problems. After Ctrl-C the runs that were not begun have the status
            "not started".

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C before the first run, in a single thread.
        """
        self.report.begin(len(self.results) * len(self.strengths), in_order=self.n_workers == 1)
        # One limit around all of them: threads that set and reset their own would interfere.
        with single_threaded_blas():
            if self.n_workers == 1:
                try:
                    self._work()
                except KeyboardInterrupt:  # between two runs; within one it is its status
                    if self.results[0][0] is None:
                        raise
                    self._interrupt()
            else:
                self._work_in_threads()
        for problem, results in zip(self.task.problems, self.results, strict=True):
            if results[-1] is None:
                results[:] = [result or _not_started(problem.n_coef) for result in results]
        return [list(column) for column in zip(*self.results, strict=True)]

    def _work_in_threads(self):
        title = f"{title_of(self.model)}: problems" if self.model.verbose else False
        with ThreadPoolExecutor(self.n_workers) as pool, progress_bar(title, len(self.results), objective=False) as bar:
            n_threads = max(1, n_openmp_threads() // self.n_workers)
            workers = [pool.submit(self._work_with_threads, n_threads) for _ in range(self.n_workers)]
            while not all(worker.done() for worker in workers):
                try:
                    wait(workers, timeout=LOOK_SECONDS)
                    bar.tick(self.n_done)
                except KeyboardInterrupt:
                    self._interrupt()
            bar.tick(self.n_done, now=True)
            for worker in workers:
                worker.result()

    def _work_with_threads(self, n_threads):
        with openmp_threads(n_threads):
            self._work()

    def _work(self):
        """Solve problems, one after the other, until none is left."""
        left, data = self.model.max_seconds, RunData(self.task, self.data)
        try:
            while (turn := self._next_turn()) is not None:
                k, n_turns = turn
                problem = self.task.problems[k]
                data.prepare(problem)
                # Time that a problem does not use is available to later ones.
                seconds = self._solve_path(k, problem, data, None if left is None else left / n_turns)
                left = None if left is None else max(0.0, left - seconds)
                with self.lock:
                    self.n_done += 1
        except BaseException:
            self.stop.set()
            raise

    def _next_turn(self):
        """Return the next problem and the largest number of problems left for this thread, this one included."""
        with self.lock:
            k, n_problems = self.n_begun, len(self.results)
            if k == n_problems or self.stop.is_set():
                return None
            self.n_begun += 1
        return k, -(-(n_problems - k) // self.n_workers)

    def _interrupt(self):
        self.interrupted = True
        self.stop.set()

    def _solve_path(self, k, problem, data, budget):
        """Solve problem k for every strength within `budget` seconds; return the seconds used."""
        results, taken = self.results[k], 0.0
        for c, strength in enumerate(self.strengths):
            if self.stop.is_set():
                break
            if c == 0:
                initial = problem.start(data.now)
                n_earlier = 0 if initial is None else initial.n_iter
                started = self.task.started
                if started is not None:
                    taken = started.seconds
                    if started.status == INTERRUPTED:  # the run below ends at once, with the start as its model
                        self._interrupt()
            else:
                initial = problem.next_start(results[c - 1].solution, self.strengths[c - 1], strength)
                n_earlier += results[c - 1].n_iter
            if initial is None or not initial.state:  # scores are computed again, from the coefficients
                n_earlier = 0
            seconds = None if budget is None else max(0.0, budget - taken) / (len(self.strengths) - c)
            number = k * len(self.strengths) + c
            results[c] = result = self._solve(problem, data, strength, initial, seconds, number, n_earlier)
            taken += result.seconds
            if result.status == INTERRUPTED:
                self._interrupt()
        return taken

    def _solve(self, problem, data, strength, initial, seconds, number, n_earlier):
        task, tol, name = self.task, self.model.tol, self._name_of_run(problem, strength)
        limit = iteration_limit(self.model, task.entry, problem.n_rows, task.n_values, task.loss_name)
        with self.report.run(number, name) as reports:
            run = partial(self._run, problem, strength=strength, name=name, reports=reports)
            before, result, examined = run(data.now, initial, limit, seconds, n_earlier=n_earlier)
            left = None if seconds is None else seconds - result.seconds
            has_time = result.n_iter < limit and (left is None or left > 0.0)
            if has_time and may_widen(task, data.now) and is_too_rounded(before, result):
                examined = None  # it holds the rows, whose memory is released
                try:
                    data.widen(problem)
                    left_steps = limit - result.n_iter
                    _, second, examined = run(
                        data.now, start_of(result), left_steps, left, counted=result.n_kernel_evaluations
                    )
                    result = joined(result, second)
                except KeyboardInterrupt:  # the first part is kept
                    result = replace(result, status=INTERRUPTED)
        if result.gap is not None and task.may_lower_strength and may_be_far(self.model, result):
            with within_floats(self.model, task):
                result = better_of_smaller(problem, data.now, strength, examined, result, tol, stop=self.stop)
        return result

    def _run(self, problem, data, initial, limit, seconds, *, strength, name, reports, counted=0, n_earlier=0):
        """Run a solver from its start to its end.

        `counted` kernel evaluations, which `data` did not make, are added to its own. `initial` holds the updates of
        `n_earlier` iterations.

        Returns
        -------
        status : str
            Before the certificate.
        result : FitResult
            With the objective and gap of the certificate.
        examined : Examined or None
        """
        task, alone = self.task, self.n_workers == 1
        counted_from = problem.counted_from(data) - counted

        def snapshot(solver):
            now = snapshot_of(self.model, task.shared, solver, counted_from)
            if task.strength in now.get_params(deep=False):  # `self.model` is the first of a path
                setattr(now, task.strength, strength)
            problem.describe(now, _checked(solver.solution(), problem, self.model, task))
            if task.counts_products:
                now.n_inner_products_ = solver.n_inner_products
            return now

        with within_floats(self.model, task):
            solver = problem.make_solver(data, strength, initial)
        result = run_solver(
            self.model,
            solver,
            max_iter=limit,
            max_seconds=seconds,
            callbacks=self.callbacks,
            snapshot=snapshot,
            title=": ".join(filter(None, (title_of(self.model), name))) if self.model.verbose and alone else False,
            stop=self.stop,
            report=nullcontext(reports),
            counted_from=counted_from,
            task=task,
        )
        _checked(result.solution, problem, self.model, task)
        if result.gap is None and result.subproblem_gap is None:
            return result.status, result, None
        try:
            with within_floats(self.model, task):
                examined = problem.examined(data, solver, strength)
                found = certified(
                    examined, result, self.model.tol, stops_by_gap=task.entry.stops_by_gap, n_earlier=n_earlier
                )
        except KeyboardInterrupt:  # the solution is kept, without a certificate
            examined, found = None, replace(result, gap=None, status=INTERRUPTED)
        return result.status, found, examined

    def _name_of_run(self, problem, strength):
        """Return what distinguishes a run from the others of the task; empty if it is the only one."""
        own = [problem.title] if len(self.results) > 1 else []
        if len(self.strengths) > 1:
            value = f"{strength:g}" if np.isscalar(strength) else strength
            own.append(f"{self.task.strength}={value}")
        return ", ".join(own)


def run_solver(model, solver, *, max_iter, max_seconds, callbacks, snapshot, title, stop=None, report=None,
               counted_from=0, task=None):  # fmt: skip
    """Advance a solver as the parameters of `model` specify; return its FitResult, with a finite objective.

    `report` is the run in the report of the fit, by default its only one.
    """
    with within_floats(model, task), report or current_report().run() as reports:
        result = driver.run(
            solver,
            max_iter=max_iter,
            tol=getattr(model, "tol", None),
            max_seconds=max_seconds,
            callback=[*callbacks, *reports] or None,
            snapshot=snapshot,
            progress=title,
            stop=stop,
            counted_from=counted_from,
        )
        if not np.isfinite(result.objective) and result.status not in ("diverged", *STOPPED_BY_USER):
            raise OverflowError("the objective is not finite")
    return result


@contextmanager
def within_floats(model, task=None):
    """Raise ValueError, with the remedy, where arithmetic leaves the range of floating-point numbers."""
    try:
        yield
    except ArithmeticError as error:
        if getattr(error, "is_of_callback", False):
            raise
        strength = next((name for name in ("C", "alpha", "nu", "noise_variance") if hasattr(model, name)), None)
        or_strength = "" if strength is None else f", or choose a less extreme {strength}={getattr(model, strength)!r}"
        advice = "" if task is None else task.advice()
        raise ValueError(
            f"{title_of(model)}: numbers leave the range of {getattr(model, 'dtype_', 'floats')} ({error}): scale the "
            f"features, for example with sklearn.preprocessing.StandardScaler{or_strength}{advice and '. '}{advice}"
        ) from error


def iteration_limit(model, entry, n_rows, n_values=None, loss=None):
    """Return how many iterations ``max_iter=`` allows a problem of `n_rows` rows, whose features may have `n_values`
    stored values, with the loss of this name."""
    if model.max_iter != -1:
        return int(model.max_iter)
    row_values = 1 if n_values is None else n_values / max(1, n_rows)
    return entry.iteration_limit(n_rows, row_values, loss, model.solver_options)


def title_of(model):
    """Return the title of a progress bar."""
    return f"{type(model).__name__} {getattr(model, 'solver_', getattr(model, 'solver', ''))}".rstrip()


def _checked(solution, problem, model, task):
    """Return a solution; raise ValueError unless it holds a finite number for each coefficient of the problem."""
    coef, n_coef = np.asarray(solution.coef), problem.n_coef
    if coef.shape != (n_coef,):
        raise ValueError(f"solver {model.solver!r} returned coefficients of shape {coef.shape}, not ({n_coef},)")
    if not (np.isfinite(coef).all() and np.isfinite(solution.intercept)):
        advice = task.advice()
        raise ValueError(
            f"solver {model.solver!r} returned a model that is not finite: it diverged{advice and '. '}{advice}"
        )
    return solution


def _one_at_a_time(callback, lock):
    def locked(model):
        with lock:
            return callback(model)

    locked.pace = getattr(callback, "pace", None)
    return locked


def _not_started(n_coef):
    return driver.FitResult(
        solution=Solution(np.zeros(n_coef)),
        status=NOT_STARTED,
        n_iter=0,
        seconds=0.0,
        n_kernel_evaluations=0,
        objective=np.nan,
        gap=None,
    )
