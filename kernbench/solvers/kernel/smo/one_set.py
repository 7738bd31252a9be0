"""SMO with the whole problem as one working set: the classic method, on kernel rows held in memory."""

import numpy as np

from kernbench.solvers.kernel.smo.certificate import is_certified
from kernbench.solvers.kernel.smo.rounds import Rounds
from kernbench.solvers.kernel.smo.stagnation import CLASSIC_CHECK

EXACT_ROWS = 64  # up to this size the last digits cost almost nothing
EXACT_GOAL = 1e-11  # ... so the violation is reduced to this
CREEPING = 200  # progress checks after which steps are extrapolated


class OneSet(Rounds):
    """Pair steps on the whole problem; see `Rounds`, whose working set it loads once."""

    def __init__(self, problem, rows, core, *, initial, shrinking):
        super().__init__(problem, rows, core, problem.n, initial=initial, whole=True, shrinking=shrinking)
        self.loaded = False  # whether `inner` holds the whole problem
        self.extra_steps = -1  # left for digits beyond `tol`
        self.until_check, self.n_checks = CLASSIC_CHECK * problem.n, 0
        self.last_checked = None  # coefficients and gradient at the last check, while steps are tiny

    def _round(self, budget):
        """Take about `budget` pair steps."""
        n = self.problem.n
        goal, exact = min(self.tol * self.unit, self.goal), EXACT_GOAL * self.unit
        if not self.loaded:
            if n > EXACT_ROWS and self.extra_steps < 0:  # a start may be a solution: no row is needed to see that
                self.violation = self.active.state.violation(self.with_bias)
                if self.violation <= goal:
                    self.converged = self._conclude()
                    if self.converged or self.stagnation.stuck:
                        return 0
                    goal = min(goal, self.goal)
            self.core.load(self.inner, self.rows, np.arange(n, dtype=np.intp), self.active.state)
            self.loaded = True
        # The requested number of steps depends on the clock; progress checks come after a fixed number of steps.
        if self.extra_steps >= 0:
            steps = self._solve(min(goal, exact), min(budget, self.extra_steps, self.until_check))
        else:
            steps = self._solve(goal, min(budget, self.until_check))
        if self.stagnation.stuck:
            self.violation = np.inf
            return 0
        state = self.active.state
        state.beta[:], state.e[:] = np.asarray(self.inner.beta)[:n], np.asarray(self.inner.e)[:n]
        self.dual, self.violation = state.dual(), self.inner.violation
        self.until_check -= steps
        if self.until_check == 0:
            self.until_check = CLASSIC_CHECK * n
            if self.violation > goal:
                self._check_progress(steps)
                if self.stagnation.stuck:
                    return steps
        if self.extra_steps >= 0:
            self.extra_steps -= steps
            if self.extra_steps == 0 and self.violation > goal:  # steps do not lower it monotonically
                self.extra_steps, self.goal = -1, goal
            elif self.violation <= exact or self.extra_steps == 0 or steps == 0:
                self.converged = self._conclude()
        elif self.violation <= goal:
            # As many steps again may be spent on digits beyond tol, so that the solution of small problems is
            # reproducible.
            if n <= EXACT_ROWS and self.goal == np.inf:
                self.extra_steps = max(1000, self.n_iter + steps)
            else:
                self.converged = self._conclude()
            return max(steps, 1)
        return steps

    def _check_progress(self, steps):
        """Check the progress of steps on the whole problem."""
        self.n_checks += 1
        stagnates = self.stagnation.update(self.dual, self.violation, CLASSIC_CHECK * self.problem.n)
        if self._is_hopeless():
            self.stagnation.give_up()
        elif stagnates:
            if self.stagnation.may_renew():
                self.active.compute_gradient()
                self.loaded, self.stagnation.exact = False, True
        elif self.n_checks >= CREEPING:
            # If C is large compared with the curvature of the kernel, pairs move in one direction for millions of tiny
            # steps.
            state = self.active.state
            before = state.beta.copy(), state.e.copy()
            try:
                if self.last_checked is not None and state.extrapolate(*self.last_checked, self.with_bias):
                    self.active.compute_gradient()
                    self.dual, self.loaded = state.dual(), False
            except BaseException:  # Ctrl-C leaves coefficients and gradient as they were
                state.beta[:], state.e[:] = before
                raise
            self.last_checked = state.beta.copy(), state.e.copy()

    def _conclude(self):
        ends = super()._conclude()
        if not ends:
            self.extra_steps = -1
        return ends

    def check(self, tol):
        if not self.converged and self.loaded and self.violation <= tol * self.unit:
            self.converged = is_certified(self.problem, self.active.state, self._intercept(), tol)
        return self.converged
