"""When SMO has stopped making progress, and what is tried before the run ends as "stalled".

Because of rounding, pairs may violate the optimality conditions without any gain, and inconsistent kernel values
(float32, or an indefinite kernel) may allow steps forever. So progress is checked regularly: after every round or,
where the whole problem is one working set, after `CLASSIC_CHECK` steps per coordinate. There is progress if the dual
objective grew by more than rounding, or the largest violation fell below `LESS` times the smallest so far.

Without any over `PATIENCE` checks and `PATIENT_STEPS` steps,

* the gradient is recomputed from the coefficients, since it accumulates the rounding errors of all updates;
* working sets get smaller, down to pairs, since many steps inside a large set rely on its own kernel values.

If neither helps, the run ends.

It also ends, as "stagnated", where the dual objective grows steadily but far too slowly, as it does for a polynomial of
columns far from the origin: with kernel values of 1e12 that differ by 1e8, steps are tiny. Far from the optimum growth
is proportional to the number of steps; near it, slower and slower.
"""

import numpy as np

PATIENCE = 10  # smallest number of checks without progress
PATIENT_STEPS = 1000  # ... and steps
CLASSIC_CHECK = 10  # steps per coordinate between two checks if the whole problem is one working set
RENEWALS = 2  # how often the gradient of such a problem is recomputed
SMALLER = 4  # factor from one size of working sets to the next
NO_GAIN = {True: 1e-10, False: 1e-13}  # share of the dual objective that counts as rounding, by `single`
NO_PACE = 1e-16  # ... and share per step: a thousandth of the objective would take 10^13 steps
STEADY_STEPS = 20  # steps per coordinate after which the rate of growth is measured for the first time
STEADY = 0.95  # a rate of at least this multiple of that over the first half of the steps is not slowing down
LEAST_WORK = 3e8  # steps times coordinates, under a second: hard margins may take hundreds of thousands of steps
AHEAD = 1e8  # steps for which it is extrapolated: ten times the usual limit, since growth may get faster
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
        Whether the run has to end.
    hopeless : bool
        Whether it has to end because the dual objective grows too slowly.
    exact : bool
        Whether the gradient was recomputed since the last progress.
    """

    def __init__(self, dual, single):
        self.stuck, self.hopeless, self.exact = False, False, False
        self._rounding, self._renewals = NO_GAIN[bool(single)], 0
        self._best_dual, self._least_violation = dual, np.inf
        self._idle_checks = self._idle_steps = 0
        self._first_dual, self._n_steps = dual, 0
        self._rate, self._measured_at = None, 0

    def update(self, dual, violation, steps):
        """Return whether the run stagnates; `steps` were taken since the last check."""
        self._n_steps += steps
        self._idle_checks += 1
        self._idle_steps += steps
        rounding = max(self._rounding, NO_PACE * self._idle_steps)
        if dual > self._best_dual + rounding * abs(dual) or violation < LESS * self._least_violation:
            self._best_dual = max(self._best_dual, dual)
            self._least_violation = min(self._least_violation, violation)
            self._idle_checks, self._idle_steps, self.exact = 0, 0, False
        if self._idle_checks < PATIENCE or self._idle_steps < PATIENT_STEPS:
            return False
        self._idle_checks, self._idle_steps = 0, 0
        return True

    def forecast(self, dual, n):
        """Return the dual objective of `n` coordinates after `AHEAD` more steps; None unless it grows steadily.

        Rates are measured each time the number of steps has doubled.
        """
        if self._n_steps < max(STEADY_STEPS * n, 2 * self._measured_at):
            return None
        earlier, self._rate = self._rate, (dual - self._first_dual) / self._n_steps
        self._measured_at = self._n_steps
        if earlier is None or self._rate < STEADY * earlier or self._n_steps * n < LEAST_WORK:
            return None
        return dual + AHEAD * self._rate

    def give_up(self):
        """End the run as hopeless."""
        self.stuck = self.hopeless = True

    def may_renew(self):
        """Return whether to recompute the gradient once more; if not, the run has to end."""
        self.stuck = self.exact or self._renewals == RENEWALS
        self._renewals += 1
        return not self.stuck

    def smaller_set(self, size, least):
        """Return the next size of working sets, at least `least`; if they had that size, the run has to end."""
        self.stuck = size <= least
        return max(least, size // SMALLER // 2 * 2)

    def start_anew(self, dual):
        """Record that the gradient, and from it the dual objective `dual`, was recomputed."""
        self._best_dual, self.exact = dual, True
