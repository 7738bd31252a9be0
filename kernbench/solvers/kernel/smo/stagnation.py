"""When SMO makes no progress any more, and what is tried before the run ends as "stalled".

Rounding may leave pairs that violate the optimality conditions and yet gain nothing, and kernel rows that contradict
each other (float32, or an indefinite kernel) may allow steps forever. So progress is measured now and then: after every
round, or where the whole problem is one working set after `CLASSIC_LOOK` steps per coordinate. There was progress if
the dual objective grew by more than rounding, or the largest violation fell below `LESS` times the smallest so far.

Without any over `PATIENCE` looks and `PATIENT_STEPS` steps,

* the gradient is computed anew from the coefficients, since it gathers the rounding errors of all updates;
* working sets get smaller, down to pairs, since steps inside a large set rely on its own kernel values for long.

If neither helps, the run is stuck.
"""

import numpy as np

PATIENCE = 10  # looks without progress, at the least
PATIENT_STEPS = 1000  # ... and steps
CLASSIC_LOOK = 10  # steps per coordinate between two looks where the whole problem is one working set
RENEWALS = 2  # times that the gradient of such a problem is computed anew
SMALLER = 4  # factor from one size of working sets to the next
NO_GAIN = {True: 1e-10, False: 1e-13}  # share of the dual objective that counts as rounding, by `single`
NO_PACE = 1e-16  # ... and share per step: a thousandth of the objective would take 10^13 steps
LESS = 0.9  # a violation below this multiple of the smallest so far is progress


class Stagnation:
    """Progress of one run of SMO.

    Parameters
    ----------
    dual : float
        The dual objective at the start.
    single : bool
        Whether kernel values are float32.

    Attributes
    ----------
    stuck : bool
        Nothing helps: the run is to end.
    exact : bool
        The gradient was computed anew since the last step that counts.
    """

    def __init__(self, dual, single):
        self.stuck, self.exact = False, False
        self._rounding, self._renewals = NO_GAIN[bool(single)], 0
        self._best_dual, self._least_violation = dual, np.inf
        self._idle_looks = self._idle_steps = 0

    def look(self, dual, violation, steps):
        """Return whether the run stagnates; `steps` were taken since the last look."""
        self._idle_looks += 1
        self._idle_steps += steps
        rounding = max(self._rounding, NO_PACE * self._idle_steps)
        if dual > self._best_dual + rounding * abs(dual) or violation < LESS * self._least_violation:
            self._best_dual = max(self._best_dual, dual)
            self._least_violation = min(self._least_violation, violation)
            self._idle_looks, self._idle_steps, self.exact = 0, 0, False
        if self._idle_looks < PATIENCE or self._idle_steps < PATIENT_STEPS:
            return False
        self._idle_looks, self._idle_steps = 0, 0
        return True

    def may_renew(self):
        """Return whether to compute the gradient anew once more; if not, the run is stuck."""
        self.stuck = self.exact or self._renewals == RENEWALS
        self._renewals += 1
        return not self.stuck

    def smaller_set(self, size, least):
        """Return the size of the working sets to go on with, at least `least`; if they had that, the run is stuck."""
        self.stuck = size <= least
        return max(least, size // SMALLER // 2 * 2)

    def start_anew(self, dual):
        """The gradient was computed anew, and the dual objective `dual` follows from it."""
        self._best_dual, self.exact = dual, True
