"""The only loop: it advances a solver, watches the clock and the stopping rule, and keeps the trace.

No solver has a loop of its own for these; a solver is a state that advances (see :mod:`kernbench.solvers.base`).
"""

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from kernbench._interrupts import deferred_interrupt
from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers.base import Diverged, Solution
from kernbench.solvers.progress import progress_bar
from kernbench.solvers.tracing import LEAST_PACE, Callbacks, Clock, Trace

CHUNK_SECONDS = 0.05  # duration of `advance` between two checks of signals, clock and progress bar
MOST_GROWTH = 16.0  # largest ratio of the sizes of consecutive chunks
FINE = 10  # chunks are this many times shorter for a callback that asks for pace 0
TRACE_GROWTH = 1.15  # the trace is recorded at times that grow by this factor, so a long run has ~60 points
CHECK_GROWTH = 1.6  # stopping rules that cost a kernel pass are tested at iterations that grow by this factor


@dataclass
class FitResult:
    """The outcome of a run.

    Attributes
    ----------
    solution : Solution
    status : str
        ``"converged"``, ``"finished"`` (a method without a rule, such as the Perceptron, did the passes asked
        for), ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"interrupted"``, ``"stalled"``, ``"stagnated"``
        (the method's own rule holds, but the certified gap exceeds the tolerance) or ``"diverged"`` (the solution is
        the last one that was finite).
    n_iter : int
        Iterations of this run.
    seconds : float
        Time spent advancing and testing the stopping rule; tracing, callbacks, and what follows the last iteration at
        a limit (a last test, the certificate) are not in it.
    n_kernel_evaluations : int
    objective : float
        Over all rows; for a solver on a sample of them, an estimate.
    gap : float or None
        Certified bound on the distance of `objective` to the optimum.
    trace : dict of str to list
        ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective`` (the dual objective, a bound from
        below, for a dual method) and what the callbacks added.
    n_inner_products : int
        Inner products with rows of explicit features, where the solver counts them.
    objective_of_sample : float or None
        The objective with the losses averaged over the sample only; None for a solver on all rows.
    sample_grows : bool
        Whether the sample still grew when the run ended.
    objective_error : float
        Standard error of `objective`; 0.0 where it is exact.
    subproblem_gap : float or None
        Certified gap of the last convex subproblem, for a method of problems that are not convex.
    message : str
        The parameter to change, for a run that diverged.
    returned : Solution or None
        The model f = 0, or that for a smaller C, where it has a smaller objective than `solution`; None where
        `solution` is the model.
    rounding : float
        Share of `gap` that is due to rounding.
    error_of_scores : float
        Error of the model's scores by rounding, relative to the largest or 1; 0.0 where it is small.
    folding : float
        Share of `gap` that is due to the rounding of an intercept where it is stored.
    is_indefinite : bool
        Whether the kernel shows negative curvature, so that nothing is certified.
    """

    solution: Solution
    status: str
    n_iter: int
    seconds: float
    n_kernel_evaluations: int
    objective: float
    gap: float | None
    trace: dict = field(default_factory=dict)
    n_inner_products: int = 0
    objective_of_sample: float | None = None
    sample_grows: bool = False
    objective_error: float = 0.0
    subproblem_gap: float | None = None
    message: str = ""
    returned: Solution | None = None
    rounding: float = 0.0
    error_of_scores: float = 0.0
    folding: float = 0.0
    is_indefinite: bool = False

    @property
    def converged(self):
        return self.status == "converged"

    @property
    def model(self):
        """The Solution that makes the model."""
        return self.solution if self.returned is None else self.returned


def run(solver, *, max_iter=None, tol=None, max_seconds=None, callback=None, snapshot=None, progress=False,
        stop=None, counted_from=0):  # fmt: skip
    """Advance `solver` until it converges or a limit is reached.

    Parameters
    ----------
    solver : Method
    max_iter : int, optional
        Maximal number of iterations of this run.
    tol : float, optional
        Passed to ``solver.check``; with None only the solver's own test is made.
    max_seconds : float, optional
        Time budget for advancing and testing, in seconds.
    callback : callable or list of callables, optional
        Each is called as ``callback(state)`` at every point of the trace, off the clock. It returns None, a mapping
        of columns for the trace, or True to stop the run, which then has the status ``"callback"`` even if it
        converged at the same point. Points are so far apart that they take little of the time; a callable with an
        attribute ``pace = 0`` is called as often as a curve needs, whatever it costs. With a callable that has
        ``by_iteration = True`` points are at iterations that grow by `TRACE_GROWTH`, whatever the time they take.
    snapshot : callable, optional
        ``snapshot(solver)`` makes the `state` that callbacks are given; by default it is the solver itself.
    progress : bool or str, default=False
        Show a progress bar; a string is its title.
    stop : threading.Event, optional
        Ends the run as Ctrl-C does once it is set; checked between chunks of iterations. For threads other than the
        main one, which Ctrl-C does not reach.
    counted_from : int, default=0
        Kernel evaluations of `solver` that are not of this run, such as those that other solvers made on shared rows;
        subtracted from what the result and the trace report.

    Returns
    -------
    FitResult
        Also after Ctrl-C, with ``status="interrupted"``: the solver's state stays consistent and usable.
    """
    trace, clock = Trace("n_iter", "seconds", "n_kernel_evaluations", "objective"), Clock()
    ask = None if callback is None else Callbacks(callback, snapshot)
    start, status, message = solver.n_iter, None, ""
    unit = max(1, solver.granularity)
    chunk, next_trace = unit, 0.0
    pace = LEAST_PACE if ask is None else ask.pace
    chunk_seconds = CHUNK_SECONDS if pace else CHUNK_SECONDS / FINE
    # The rule is tested at multiples of the granularity, so that tests do not change the iterates.
    next_check = None if tol is None or solver.first_check is None else max(1, solver.first_check // unit) * unit
    next_point = 0 if ask is not None and ask.by_iteration else None  # of the trace; None where its time decides

    def record():
        """Add a point to the trace; return "callback" or "interrupted" if a callback ends the run, else None."""
        bound = solver.dual_objective()  # of dual methods at no cost; the primal one may cost a pass over the kernel
        row = {
            "n_iter": solver.n_iter,
            "seconds": clock.seconds,
            "n_kernel_evaluations": solver.n_kernel_evaluations - counted_from,
            "objective": solver.objective() if bound is None else bound,
        }
        ends, columns = (False, {}) if ask is None else ask(solver)
        trace.add({**row, **columns})
        bar.update(solver.n_iter - start, row["objective"])
        return ("interrupted" if ask.interrupted else "callback") if ends else None

    with single_threaded_blas(), progress_bar(progress, max_iter) as bar:
        try:
            if max_seconds is None:
                solver.stop_at(np.inf)  # an earlier run may have left a time
            if max_iter is not None:
                solver.stop_after(start + max_iter)
            if tol is not None and solver.converged and solver.first_check is not None:
                with clock:
                    solver.check(tol)  # an earlier run may have had a larger one
            while status is None:
                done = solver.n_iter - start
                is_due = clock.seconds >= next_trace if next_point is None else done >= next_point
                if is_due:
                    tick = perf_counter()
                    status = record()
                    pause = max(chunk_seconds, pace * (perf_counter() - tick))
                    next_trace = max(clock.seconds * TRACE_GROWTH, clock.seconds + pause)
                    if next_point is not None:
                        next_point = _following(next_point, done, TRACE_GROWTH, unit)
                if status is not None:
                    break
                if solver.converged:
                    status = "converged"
                elif solver.stagnated:
                    status = "stagnated"
                elif solver.finished:
                    status = "finished"
                elif max_iter is not None and done >= max_iter:
                    status = "max_iter"
                elif max_seconds is not None and clock.seconds >= max_seconds:
                    status = "max_seconds"
                elif stop is not None and stop.is_set():
                    status = "interrupted"
                if status is not None:
                    break

                step = chunk if max_iter is None else min(chunk, max_iter - done)
                for end in (next_check, next_point):
                    step = step if end is None else min(step, end - done)
                if max_seconds is not None:
                    deadline = perf_counter() + max_seconds - clock.seconds
                    solver.stop_at(deadline)
                with clock:
                    advanced = _advance(solver, step)
                spent = clock.last
                if advanced is None or (advanced > 0 and solver.n_iter - start == done):  # it would run for ever
                    raise ValueError(
                        f"{type(solver).__name__}.advance({step}) returned {advanced!r}, and n_iter is "
                        f"{solver.n_iter}: it must return how many iterations it did, and add them to n_iter"
                    )
                if next_check is not None and solver.n_iter - start >= next_check:
                    with clock:
                        solver.check(tol)
                    next_check = _following(next_check, solver.n_iter - start, CHECK_GROWTH, unit)
                # By both: rounding may put the sum of the clock below the limit when the deadline has passed.
                out_of_time = max_seconds is not None and (clock.seconds >= max_seconds or perf_counter() >= deadline)
                at_end = solver.converged or solver.stagnated or solver.finished
                if advanced == 0 and not (at_end or out_of_time):
                    status = "stalled"
                elif advanced >= step == chunk:  # a chunk shortened by a check or a limit does not measure the speed
                    factor = min(MOST_GROWTH, max(0.25, chunk_seconds / max(spent, 1e-9)))
                    chunk = max(unit, int(chunk * factor) // unit * unit)
                bar.tick(solver.n_iter - start)
            if tol is not None and (
                status in ("finished", "max_iter")
                # Once the time is up, a certificate that takes a product with the kernel matrix is too expensive.
                or (status == "max_seconds" and not solver.gap_is_costly)
            ):
                status = "converged" if solver.check(tol) else status
        except KeyboardInterrupt:
            status = "interrupted"
        except Diverged as error:
            status, message = "diverged", str(error)
        finally:
            solver.stop_after(np.inf)
        # Ctrl-C from here on does not lose the solution.
        try:
            # The last test of the rule may evaluate kernel values but takes no step.
            now = {"n_iter": solver.n_iter, "n_kernel_evaluations": solver.n_kernel_evaluations - counted_from}
            if any(trace.columns[name][-1:] != [value] for name, value in now.items()):
                ended = record()
                if status != "interrupted":
                    status = ended or status
        except KeyboardInterrupt:
            status = "interrupted"
    found = _found(solver, status, message, counted_from)
    return FitResult(n_iter=solver.n_iter - start, seconds=clock.seconds, trace=trace.columns, **found)


def _following(point, done, growth, unit):
    """Return the first iteration after `done`, a multiple of `unit`, of those that grow by a factor from `point` on."""
    while point <= done:  # `advance` may do more than it is asked for
        point = max(int(point * growth) // unit, point // unit + 1) * unit
    return point


def _found(solver, status, message, counted_from):
    """Return the other fields of the `FitResult` of a run that ended with this status and message.

    Ctrl-C does not lose the solution here: it changes the status, and ends a certificate that takes long.
    """
    with single_threaded_blas():
        with deferred_interrupt() as interrupt:
            objective = solver.objective()
        if interrupt.asked:
            status = "interrupted"
        in_haste = status in ("max_seconds", "interrupted") and solver.gap_is_costly
        try:
            gap = solver.known_gap() if in_haste else solver.gap()
        except KeyboardInterrupt:
            status, gap = "interrupted", solver.known_gap()
        if not np.isfinite(objective) and solver.step_name is not None and status != "diverged":
            # The coefficients are finite as yet, but squares of scores no longer are.
            status = "diverged"
            message = f"the objective is not finite: lower {solver.step_name}, or scale the features"
        n_kernel_evaluations = solver.n_kernel_evaluations - counted_from
        with deferred_interrupt() as interrupt:  # both may take kernel values: off the clock, as the trace is
            estimate, solution = solver.whole_objective() if solver.is_sampled else None, solver.solution()
        if interrupt.asked:
            status = "interrupted"
    found = {
        "solution": solution,
        "status": status,
        "n_kernel_evaluations": n_kernel_evaluations,
        "objective": objective,
        "gap": gap,
        "n_inner_products": solver.n_inner_products,
        "subproblem_gap": solver.subproblem_gap,
        "message": message,
    }
    if estimate is not None:
        found |= {"objective": estimate.value, "objective_of_sample": objective, "objective_error": estimate.error}
        found["sample_grows"] = solver.growing
    return found


def _advance(solver, n_iter):
    """Advance the solver; unless it may be interrupted anywhere, KeyboardInterrupt comes when the chunk is done."""
    if solver.is_interruptible:
        return solver.advance(n_iter)
    with deferred_interrupt() as interrupt:
        advanced = solver.advance(n_iter)
    if interrupt.asked:
        raise KeyboardInterrupt
    return advanced
