"""Options of the online kernel methods, checked, and their step lengths, for both twins."""

from dataclasses import dataclass

import numpy as np

from kernbench.problems.kernel.expansion import ball_radius
from kernbench.problems.margin_problem import require_number
from kernbench.validation.numbers import check_name, check_number

ORDERS = ("random", "index")
OUTPUTS = ("last", "average", "random")
SCHEDULES = ("inverse_sqrt", "inverse", "constant")


def require_count(name, value):
    """Return `value`; raise ValueError unless it is a positive integer or None."""
    return value if value is None else int(check_number(name, value, at_least=1, whole=True, unit=" or None"))


def pass_order(seed, number, n, order):
    """Return the order of the n examples in pass `number`; it depends on the seed and the number only.

    Parameters
    ----------
    seed, number, n : int
    order : {"random", "index"}

    Returns
    -------
    ndarray of shape (n,), intp
    """
    if order == "index":
        return np.arange(n, dtype=np.intp)
    rng = np.random.Generator(np.random.Philox(key=[seed, number + 1]))
    return rng.permutation(n).astype(np.intp, copy=False)


def _squared_length(problem, squared_r):
    """Return the squared length of the direction in which a step moves one score, k(x, x) and 1 for the intercept.

    Steps up to twice as long do not diverge: from k(x, x) = 1 on, the intercept needs no shorter ones.
    """
    return squared_r + 1.0 if problem.fit_intercept and squared_r < 1.0 else squared_r


@dataclass(frozen=True)
class StepRule:
    """t -> gamma_t = min(longest, reach / sqrt(t), reach / (t + 1) or reach).

    Attributes
    ----------
    schedule : {"inverse_sqrt", "inverse", "constant"}
    reach, longest : float
    """

    schedule: str
    reach: float
    longest: float

    @classmethod
    def of(cls, problem, diagonal, schedule, step_size):
        """Return the rule for a problem with k(x_i, x_i) = `diagonal`; see `NORMA`."""
        check_name("schedule", schedule, SCHEDULES)
        step_size = require_number("step_size", step_size, positive=True)
        lam = problem.alpha * problem.n / problem.total_weight
        largest, smoothness = float(diagonal[problem.weights > 0].max()), problem.loss.smoothness
        squared_r = max(0.0, largest)  # negative if indefinite
        longest = 0.5 / lam
        if np.isfinite(smoothness):
            with np.errstate(divide="ignore", over="ignore"):  # no bound where the curvature underflows
                longest = min(longest, float(np.divide(1.0, smoothness * _squared_length(problem, squared_r))))
        reach = step_size * ball_radius(problem) / (np.sqrt(squared_r) or 1.0)
        if schedule == "inverse":
            reach = step_size / lam
        elif schedule == "constant":
            reach /= np.sqrt(np.count_nonzero(problem.weights > 0))
        return cls(schedule, float(reach), longest)

    def __call__(self, t):
        """Return gamma_t, for a step or for each of an array of them."""
        if self.schedule == "inverse_sqrt":
            return np.minimum(self.reach / np.sqrt(t), self.longest)
        if self.schedule == "inverse":
            return np.minimum(self.reach / (t + 1), self.longest)
        return np.full(np.shape(t), min(self.reach, self.longest))
