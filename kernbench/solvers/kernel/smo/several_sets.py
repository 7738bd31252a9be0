"""SMO with working sets, one after the other.

One round:

    choose a working set --the kernel between its members--> solve it by pair steps
                         --rows of those that moved--------> update the gradient of all coordinates

The set keeps the newest half of the last one and takes the rest from both ends of the gradient. The kernel between a
thousand members costs little; whole rows, which take most of the time, are computed only for the members that moved, in
one batch of the kernel engine. The gradient is float64.

Sets grow with the number of free coefficients (`set_size`). Where most of a set would be free, it keeps these instead.
Shrinking (`active_set`) leaves out coordinates that will stay at their bound.
"""

import numpy as np

from kernbench._interrupts import undivided
from kernbench.solvers.kernel.smo.rounds import Rounds

INNER_ACCURACY = 0.1  # a set is solved until its violation is this share of the global one
SHRINK_EVERY = 4  # rounds between two attempts to shrink


class SeveralSets(Rounds):
    """Rounds, each with a working set of its own; see `Rounds`. `set_size` is a `SetSize`.

    Attributes
    ----------
    members : ndarray of intp
        The last working set, oldest first; positions among the active coordinates.
    n_kept : int
        Members that it kept from the one before.
    count : int
        Rounds done so far.
    """

    def __init__(self, problem, rows, core, *, initial, set_size, shrinking):
        self.set_size = set_size
        super().__init__(problem, rows, core, set_size.now, initial=initial, whole=False, shrinking=False)
        self.members, self.n_kept, self.count = np.empty(0, dtype=np.intp), 0, 0
        self.shrinking, self.last_shrunk = shrinking and rows.can_restrict, 0

    def _round(self, budget):
        """Choose a working set, solve it whatever the budget, update the gradient; test for the end first."""
        self.active.align_rows()
        while True:
            tol = min(self.tol * self.unit, self.goal)
            self._choose(tol)
            if self.violation <= tol:
                if self.active.indices is None:
                    self.converged = self._conclude()
                    if self.converged or self.stagnation.stuck:
                        return 0
                else:
                    gradient = self.active.full_gradient(count=True)
                    with undivided():  # members are positions among the active coordinates
                        self.members, self.violation = self.active.restore(self.members, tol, gradient)
                continue
            self.core.load(self.inner, self.rows, self.members, self.active.state)
            # The budget depends on the clock, and the steps must not; the limit of the run does not.
            most = min(100 * len(self.members), self.last_iter - self.n_iter)
            steps = self._solve(max(0.5 * tol, INNER_ACCURACY * self.violation), most)
            if steps:
                break
            if self.stagnation.stuck or not self._freshen():
                return 0
        self.stagnation.exact = False
        self._move()
        self.count += 1
        stagnates = self.stagnation.update(self.dual, self.violation, steps)
        if self._is_hopeless():
            self.stagnation.give_up()
        elif stagnates:
            size = self.set_size.now
            self.set_size.fix(self.stagnation.smaller_set(size, size if self.rough else 2))
            if not self.stagnation.stuck:
                self._start_anew()
        elif self.shrinking and self.count - self.last_shrunk >= SHRINK_EVERY:
            self.last_shrunk = self.count
            with undivided():
                self.members = self.active.shrink(self.members)
        return steps

    def _choose(self, tol):
        """Choose the next working set, the free coefficients or else the newest half of the last one, and the
        coordinates that violate most; set `violation`."""
        state, free = self.active.state, np.flatnonzero(self.active.state.free())
        self.set_size.grow_for(len(free))
        size = self.set_size.now
        if self.active.indices is not None and self.set_size.takes_all(len(state.beta)):
            size = len(state.beta)
        if len(self.members) and self.set_size.should_keep(len(free)):
            kept = free
        else:
            kept = self.members[len(self.members) // 2 :] if len(self.members) >= size else self.members
            kept = kept[: size // 2]
        self.n_kept = len(kept)
        self.members, self.violation = state.choose(size, kept, 0.5 * tol, self.with_bias)

    def _move(self):
        """Write the set's coefficients back and update the gradient: e -= (K + R)[:, moved] (change of beta)."""
        state, members = self.active.state, self.members
        after = np.asarray(self.inner.beta)[: len(members)]
        changes = after - state.beta[members]
        moved = np.flatnonzero(changes)
        changes, moved = changes[moved], members[moved]
        before, e = state.e[moved], state.e.copy()  # Ctrl-C leaves coefficients and gradient as they were
        e[moved] -= state.ridge[moved] * changes
        self.core.subtract_rows(self.rows, moved, changes, e)
        state.beta[members], state.e[:] = after, e
        # The gain of the dual objective by the updated gradient, not by the set's own kernel values.
        if self.active.indices is None:
            self.dual = state.dual()
        else:
            self.dual += 0.5 * float(changes @ (before + state.e[moved]))
            if state.zone:
                now = state.beta[moved]
                self.dual -= state.zone * float((np.abs(now) - np.abs(now - changes)).sum())

    def _freshen(self):
        """Handle a set in which no step was possible although the conditions are violated; return whether to try again.

        First the set is filled with violating coordinates only. If that does not help, the gradient has accumulated
        rounding errors: it is recomputed, once, from the coefficients.
        """
        if self.n_kept:
            self.members = np.empty(0, dtype=np.intp)
            return True
        if self.stagnation.exact:
            return False
        self._start_anew()
        return True

    def _start_anew(self):
        """Activate all coordinates, compute their gradient from the coefficients and keep no members."""
        self.active.compute_gradient()
        self.dual = self.active.state.dual()
        self.stagnation.start_anew(self.dual)
        self.members = np.empty(0, dtype=np.intp)
