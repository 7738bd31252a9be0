"""Options of the online kernel methods, checked, and their step lengths, for both twins."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from kernbench._names import unknown_name
from kernbench.problems.expansion import ball_radius
from kernbench.problems.margin_problem import require_number

ORDERS = ("random", "index")
OUTPUTS = ("last", "average", "random")
SCHEDULES = ("inverse_sqrt", "inverse", "constant")


def require_choice(name, value, known):
    """Return `value`; ValueError, which says the nearest name, unless it is one of `known`."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(unknown_name(name, value, known))
    return value


def require_count(name, value):
    """Return `value`, an integer of at least 1 or None; ValueError otherwise."""
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a positive integer or None, got {value!r}")
    return int(value)


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
    def of(cls, problem, diagonal, schedule, step):
        """Return the rule for a problem with k(x_i, x_i) = `diagonal`; see `NORMA`."""
        require_choice("schedule", schedule, SCHEDULES)
        step = require_number("step", step, positive=True)
        lam = problem.alpha * problem.n / problem.total_weight
        squared_r, smoothness = float(diagonal.max()), problem.loss.smoothness
        longest = 0.5 / lam
        if np.isfinite(smoothness) and squared_r > 0:
            longest = min(longest, 1.0 / (smoothness * squared_r))
        reach = step * ball_radius(problem) / (np.sqrt(squared_r) or 1.0)
        if schedule == "inverse":
            reach = step / lam
        elif schedule == "constant":
            reach /= np.sqrt(problem.n)
        return cls(schedule, float(reach), longest)

    def __call__(self, t):
        if self.schedule == "inverse_sqrt":
            return min(self.reach / np.sqrt(t), self.longest)
        if self.schedule == "inverse":
            return min(self.reach / (t + 1), self.longest)
        return min(self.reach, self.longest)
