"""The only loop: it advances a solver, watches the clock and the stopping rule, and keeps the trace.

No solver has a loop of its own for these; a solver is a state that advances (see :mod:`kernbench.solvers.base`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers.base import Solution
from kernbench.solvers.progress import progress_bar

CHUNK_SECONDS = 0.05  # between two looks at signals, clock and progress bar
MOST_GROWTH = 16.0  # of a chunk, from one to the next
TRACE_GROWTH = 1.15  # the trace is recorded at times that grow by this factor, so a long run has ~60 points
CHECK_GROWTH = 1.6  # stopping rules that cost a kernel pass are tested at iterations that grow by this factor


@dataclass
class FitResult:
    """What a run left behind.

    Attributes
    ----------
    solution : Solution
    status : str
        ``"converged"``, ``"finished"`` (a method without a rule, such as the Perceptron, did the passes asked
        for), ``"max_iter"``, ``"max_seconds"``, ``"callback"``, ``"interrupted"`` or ``"stalled"``.
    n_iter : int
        Iterations of this run.
    seconds : float
        Time spent advancing and testing the stopping rule; tracing and callbacks are not in it.
    n_kernel_evaluations : int
    objective : float
    gap : float or None
        Certified bound on the distance of `objective` to the optimum.
    trace : dict of str to list
        ``n_iter``, ``seconds``, ``n_kernel_evaluations``, ``objective`` (the dual objective, a bound from
        below, for a dual method) and what the callback added.
    """

    solution: Solution
    status: str
    n_iter: int
    seconds: float
    n_kernel_evaluations: int
    objective: float
    gap: float | None
    trace: dict = field(default_factory=dict)

    @property
    def converged(self):
        return self.status == "converged"


class _Trace:
    """Columns that grow together; a key the callback adds late is filled with None above."""

    def __init__(self):
        self.columns = {"n_iter": [], "seconds": [], "n_kernel_evaluations": [], "objective": []}

    def add(self, record):
        length = len(self.columns["n_iter"])
        for key in record:
            self.columns.setdefault(key, [None] * length)
        for key, column in self.columns.items():
            column.append(record.get(key))


class _Clock:
    """A stopwatch for `with`: `seconds` in all, `last` of the last turn; an interrupted turn counts."""

    def __init__(self):
        self.seconds = self.last = 0.0

    def __enter__(self):
        self._tick = perf_counter()

    def __exit__(self, *exception):
        self.last = perf_counter() - self._tick
        self.seconds += self.last


def _answer(said):
    """What a callback said: whether to stop, and what to add to the trace."""
    if said is None or isinstance(said, (bool, np.bool_)):
        return bool(said), {}
    if isinstance(said, Mapping):
        return False, dict(said)
    raise ValueError(
        f"a callback must return None, True to stop the run, or a mapping for the trace, got {said!r}"
    )


def run(solver, *, max_iter=None, tol=None, max_seconds=None, callback=None, progress=False):
    """Advance `solver` until it converges or a limit is reached.

    Parameters
    ----------
    solver : Solver
    max_iter : int, optional
        Iterations of this run at the most.
    tol : float, optional
        Handed to ``solver.check``; None asks for no test but the solver's own.
    max_seconds : float, optional
        Time budget for advancing and testing, in seconds.
    callback : callable, optional
        Called as ``callback(solver)`` at every point of the trace, off the clock. A mapping it returns is
        added to the trace; returning True stops the run.
    progress : bool or str, default=False
        Show a progress bar; a string is its title.

    Returns
    -------
    FitResult
        Also after Ctrl-C, with ``status="interrupted"``: the solver's state stays whole and usable.
    """
    trace, clock = _Trace(), _Clock()
    start, status = solver.n_iter, None
    grain = max(1, solver.granularity)
    chunk, next_trace = grain, 0.0
    # Tests of the rule come at multiples of the grain, so that they do not disturb the iterates.
    next_check = (
        None if tol is None or solver.first_check is None else max(1, solver.first_check // grain) * grain
    )
    # Dual methods follow their own objective at no cost; the primal one may cost them a pass over the kernel.
    followed = getattr(solver, "dual_objective", solver.objective)

    def record():
        row = {
            "n_iter": solver.n_iter,
            "seconds": clock.seconds,
            "n_kernel_evaluations": solver.n_kernel_evaluations,
            "objective": followed(),
        }
        stop, extra = _answer(callback(solver)) if callback is not None else (False, {})
        trace.add({**row, **extra})
        bar.update(solver.n_iter - start, row["objective"])
        return stop

    with single_threaded_blas(), progress_bar(progress, max_iter) as bar:
        try:
            while status is None:
                done = solver.n_iter - start
                if clock.seconds >= next_trace:
                    next_trace = max(clock.seconds * TRACE_GROWTH, clock.seconds + CHUNK_SECONDS)
                    if record():
                        status = "callback"
                if solver.converged:
                    status = "converged"
                elif getattr(solver, "finished", False):
                    status = "finished"
                elif max_iter is not None and done >= max_iter:
                    status = "max_iter"
                elif max_seconds is not None and clock.seconds >= max_seconds:
                    status = "max_seconds"
                if status is not None:
                    break

                step = chunk if max_iter is None else min(chunk, max_iter - done)
                if next_check is not None:
                    step = min(step, next_check - done)
                with clock:
                    advanced = solver.advance(step)
                spent = clock.last
                if next_check is not None and solver.n_iter - start >= next_check:
                    with clock:
                        solver.check(tol)
                    next_check = max(int(next_check * CHECK_GROWTH) // grain, next_check // grain + 1) * grain
                if advanced == 0 and not (solver.converged or getattr(solver, "finished", False)):
                    status = "stalled"
                elif advanced >= step == chunk:  # a step that a check or a limit cut short teaches nothing
                    factor = min(MOST_GROWTH, max(0.25, CHUNK_SECONDS / max(spent, 1e-9)))
                    chunk = max(grain, int(chunk * factor) // grain * grain)
                bar.tick(solver.n_iter - start)
            if status in ("finished", "max_iter", "max_seconds") and tol is not None and solver.check(tol):
                status = "converged"
        except KeyboardInterrupt:
            status = "interrupted"
        # Ctrl-C from here on still leaves what was reached.
        try:
            # The last look at the rule may take evaluations but no step.
            now = {"n_iter": solver.n_iter, "n_kernel_evaluations": solver.n_kernel_evaluations}
            if any(trace.columns[name][-1:] != [value] for name, value in now.items()):
                record()
        except KeyboardInterrupt:
            status = "interrupted"
    with single_threaded_blas():
        objective, gap = solver.objective(), solver.gap()
    return FitResult(
        solution=solver.solution(),
        status=status,
        n_iter=solver.n_iter - start,
        seconds=clock.seconds,
        n_kernel_evaluations=solver.n_kernel_evaluations,
        objective=objective,
        gap=gap,
        trace=trace.columns,
    )
