"""Float64 where the rounding of float32 keeps a run from its tolerance.

With ``dtype="auto"`` rows are float32 from some size on. Their rounding moves scores in proportion to the coefficients,
so that at a large C the certificate may not reach `tol` although the solver's own rule holds, or steps may make no
progress. Then the run continues on float64 rows from its solution: usually a product with the kernel and a few steps.
"""

from dataclasses import replace

import numpy as np

from kernbench.estimators.fit.outcome import STAGNATED
from kernbench.solvers.base import Solution


class RunData:
    """The data of the solvers of one thread: made for a problem, reused for the next ones, made again in float64.

    Parameters
    ----------
    task : Task
    given : object, optional
        From an earlier call.

    Attributes
    ----------
    now : KernelRows, TwoPrecisionRows, Design or other first argument of a solver
    """

    def __init__(self, task, given=None):
        self._task, self.now, self._is_wider = task, given, False

    def prepare(self, problem):
        """Make the data of a problem, unless that of the last one serves: in the precision of the task, so that the
        results do not depend on which thread solves which problem."""
        if self.now is None or self._is_wider or not self._task.shares_data:
            self.now = None  # release the memory of the old data first
            self.now, self._is_wider = problem.make_data(), False

    def widen(self, problem):
        """Make the data of the problem in float64, for the rest of its path."""
        self.now = None
        self.now, self._is_wider = problem.make_data("float64"), True


def may_widen(task, data):
    """Return whether float64 rows may replace these: the solver continues in another precision, and the user leaves it
    to the fit."""
    is_single = np.dtype(getattr(data, "dtype", np.float64)) == np.float32
    return is_single and task.entry.two_precisions and task.model.dtype == "auto"


def is_too_rounded(before, result):
    """Return whether a run on float32 rows ended by their rounding; `before` is its status before the certificate."""
    by_certificate = before == "converged" and result.status == STAGNATED
    return (by_certificate or before == "stalled" == result.status) and not result.is_indefinite


def start_of(result):
    """Return the start in float64: the coefficients; their products with the kernel are computed again."""
    return Solution(result.solution.coef, n_iter=result.solution.n_iter)


def joined(first, second):
    """Return the FitResult of a run in two parts, whose kernel evaluations the second counts from the beginning."""
    trace = {name: [*values, *second.trace[name]] for name, values in first.trace.items() if name in second.trace}
    later = [first.seconds + seconds for seconds in second.trace.get("seconds", ())]
    if later:
        trace["seconds"] = [*first.trace["seconds"], *later]
    return replace(second, n_iter=first.n_iter + second.n_iter, seconds=first.seconds + second.seconds, trace=trace)
