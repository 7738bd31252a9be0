"""Step sizes of stochastic gradient methods, functions of the step t = 1, 2, ..."""

import numpy as np

from kernbench.validation.numbers import check_name, check_number

PUBLISHED_DECAY = 1e-4  # of the authors' program

SCHEDULES = {
    "bounded": lambda t, gamma, alpha, t0: gamma / (1.0 + gamma * alpha * t),
    "inverse": lambda t, gamma, alpha, t0: gamma / (t + t0),
    "inverse_sqrt": lambda t, gamma, alpha, t0: gamma / np.sqrt(t),
    "published": lambda t, gamma, alpha, t0: gamma / (1.0 + PUBLISHED_DECAY * t),
    "late_inverse": lambda t, gamma, alpha, t0: gamma / (1.0 + PUBLISHED_DECAY * t) * (t0 / t if t > t0 > 0 else 1.0),
}


class StepSizes:
    """A schedule with its numbers; call it with t.

    Parameters
    ----------
    schedule : {"bounded", "inverse", "inverse_sqrt", "published", "late_inverse"}
        gamma / (1 + gamma alpha t), which tends to 1 / (alpha t) from below; gamma / (t + t0), whose theory asks for
        gamma alpha in (1, 2) or a whole number; gamma / sqrt(t); gamma / (1 + 1e-4 t), that of the authors' program;
        the same up to step t0, and t0 / t times that afterwards.
    gamma : float
    alpha : float
    t0 : float, default=0.0
        Offset of t in the schedule ``"inverse"``; the last step of full size in ``"late_inverse"``; without effect on
        the others.
    """

    def __init__(self, schedule, gamma, alpha, t0=0.0):
        self._rule = SCHEDULES[check_name("schedule", schedule, SCHEDULES)]
        self._gamma = float(check_number("step_size", gamma, above=0))
        self._t0 = float(check_number("t0", t0, at_least=0))
        self._alpha = float(alpha)

    def __call__(self, t):
        return float(self._rule(t, self._gamma, self._alpha, self._t0))
