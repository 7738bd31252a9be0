"""The inner problem of SMO: the coordinates of a working set, solved by steps of two, or of one.

The dual problem is that of `solvers.kernel.smo.dual_state`, and e its gradient. beta is optimal when no coordinate that
can grow has a larger slope than one that can shrink. A step takes a violating pair (i, j), chosen by second-order
information (Fan, Chen, Lin, JMLR 2005), and moves beta_i up and beta_j down as far as the dual objective grows. Without
a bias single coordinates move. At the `kinks` of a regression's loss the slope changes; in problems with a share nu a
pair is of one of the `signs`.

If a set is the whole problem, the coordinates that are at a bound and that no violating partner could move away from it
are ignored for the time being (Joachims 1999). The others are its core: first solved until its violation is a tenth,
then, unless an ignored coordinate violates the conditions more, to the end.
"""

import numpy as np

from kernbench.reference.kernel.smo import kinks, signs

TINY = 1e-12  # curvature of a pair of equal points
SAME_BETA = 1e-13  # share of its box, and of the largest coefficient so far, within which a coefficient is at its bound
SHRINK_STEPS = 100  # between two attempts to shrink
SHRINK_ROWS = 200  # least size of a problem that is shrunk
SHRINK_SHARE = 0.3  # coordinates are left out only if they are at least this share
CORE_ACCURACY = 0.1  # a core is first solved until its violation is this share of that of all
ARRAYS = ("beta", "e", "lower", "upper", "diagonal", "ridge", "least_change")


class WorkingSet:
    """A working set.

    Parameters
    ----------
    capacity : int
    single : bool
        Ignored, as `capacity` is, for compatibility with the compiled twin.
    with_bias : bool
        Steps keep the sum of beta.
    whole : bool
        The set is always the whole problem.
    shrinks : bool
        Whether to leave out coordinates that will probably stay at their bound.
    zone : float
    constraint : {"sum", "signs", "size"}
    """

    def __init__(self, capacity, single, with_bias, whole, shrinks, zone=0.0, constraint="sum"):
        self.with_bias, self.whole, self.shrinks, self.zone = with_bias, whole, shrinks, zone
        self.constraint, self.reach, self.kernel, self.core = constraint, 0.0, None, None

    def load(self, rows, members, state):
        """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
        if self.kernel is None or not self.whole:
            kernel = rows.batch(members) if self.whole else rows.block(members, members)
            self.kernel = np.asarray(kernel, dtype=np.float64)
        for name in ARRAYS:
            setattr(self, name, getattr(state, name)[members].copy())
        self.room = state.room()  # by how much sum |beta| may grow
        self.reach = max(self.reach, np.abs(self.beta).max(initial=0.0))  # the largest coefficient so far
        self.dual_gain, self.most_gain, self.violation = 0.0, np.inf, 0.0
        self.core, self.core_goal, self.trusted = None, 0.0, False
        self.until_shrink = SHRINK_STEPS if self.shrinks and len(members) >= SHRINK_ROWS else None

    def solve(self, goal, budget):
        """Step until the violation inside the set is at most `goal`; return the number of steps."""
        if self.until_shrink is None:
            return self._steps(goal, budget)
        steps = 0
        while True:
            if self.core is None:
                room = min(budget - steps, self.until_shrink)
                done = self._steps(goal, room)
                steps += done
                self.until_shrink -= done
                if self.violation <= goal or done < room or steps == budget:
                    return steps
                self._enter()
                self.until_shrink = SHRINK_STEPS
                if self.core is None:
                    continue
            core, room, target = self.core, budget - steps, max(goal, self.core_goal)
            core.dual_gain, core.most_gain, core.reach = self.dual_gain, self.most_gain, self.reach
            done = core._steps(target, room)
            steps += done
            self.dual_gain, self.reach, self.room = core.dual_gain, core.reach, core.room
            self._write_back()
            self._steps(goal, 0)  # the violation of all
            if core.violation > target and done == room:
                return steps
            self.core, self.trusted = None, core.violation <= target and self.violation <= target
            if self.trusted and self.violation > goal:
                self.until_shrink = 0

    def _enter(self):
        """Form the core of the coordinates that may still move, if it is small enough."""
        stays = self._stays()
        places = np.flatnonzero(~stays)
        if len(places) > (1.0 - SHRINK_SHARE) * len(stays):  # rounded as in the compiled core
            return
        core = WorkingSet(len(places), False, self.with_bias, True, False, self.zone, self.constraint)
        for name in ARRAYS:
            setattr(core, name, getattr(self, name)[places])
        core.kernel, core.room = self.kernel[np.ix_(places, places)], self.room
        self.core, self.places, self.before = core, places, (self.beta[places], self.e.copy())
        self.core_goal = 0.0 if self.trusted else CORE_ACCURACY * self.violation

    def _write_back(self):
        """Take the coefficients of the core, and update the gradient of all coordinates."""
        beta, e = self.before
        self.e = e - self.kernel[:, self.places] @ (self.core.beta - beta)
        self.beta[self.places], self.e[self.places] = self.core.beta, self.core.e

    def _stays(self):
        """Return a mask of the coordinates that no violating partner could move away from a bound or kink."""
        grow, shrink = kinks.slopes(self)
        if not self.with_bias:
            return ((self.beta >= self.upper) | (grow < 0)) & ((self.beta <= self.lower) | (shrink > 0))
        stays = np.ones(len(grow), dtype=bool)
        for can_grow, can_shrink, top, bottom in self._ends(grow, shrink):
            stays &= (~can_grow | (grow < bottom)) & (~can_shrink | (shrink > top))
        return stays

    # --- steps -------------------------------------------------------------------------------------------------------

    def _steps(self, goal, budget):
        choose, move = (self._pair, self._move_pair) if self.with_bias else (self._single, self._move_single)
        steps = 0
        while True:
            self.violation, best = choose()
            if not self.violation > goal or steps >= budget or self.dual_gain > self.most_gain or best is None:
                return steps
            move(*best)
            steps += 1

    def _families(self):
        """Return pairs of masks: the coordinates that can grow, and those that can shrink as they do."""
        if self.constraint != "sum":
            return signs.families(self)
        return [(self.beta < self.upper, self.beta > self.lower)]

    def _ends(self, grow, shrink):
        """Return for each family its masks, its largest slope of growth and its least one of shrinkage."""
        return [
            (can_grow, can_shrink, grow.max(where=can_grow, initial=-np.inf),
             shrink.min(where=can_shrink, initial=np.inf))
            for can_grow, can_shrink in self._families()
        ]  # fmt: skip

    def _pair(self):
        """Return the violation, and the best pair of its family with slope and curvature; None if no pair gains."""
        grow, shrink = kinks.slopes(self)
        can_grow, can_shrink, top, bottom = max(self._ends(grow, shrink), key=lambda family: family[2] - family[3])
        if not top > bottom:
            return 0.0, None
        i = int(np.argmax(np.where(can_grow, grow, -np.inf)))
        curvature = np.maximum(self.diagonal[i] + self.diagonal - 2 * self.kernel[i], TINY)
        gain = np.where(can_shrink, np.maximum(top - shrink, 0.0), 0.0) ** 2 / curvature
        j = int(np.argmax(gain))
        return top - bottom, (i, j, top - shrink[j], curvature[j]) if gain[j] > 0 else None

    def _move_pair(self, i, j, slope, curvature):
        """Move beta_i up and beta_j down by the best step."""
        beta, ends = self.beta, (self.upper[i], self.lower[j])
        if self.constraint != "sum":
            ends = signs.ends_of_pair(self, i, j)
        rooms = ends[0] - beta[i], beta[j] - ends[1]
        if self.constraint == "size":
            step = signs.bounded_step(self, beta[i], beta[j], min(slope / curvature, *rooms))
        elif self.zone:
            step = kinks.step_over_kinks(self, i, j, slope, curvature, min(rooms))
        else:
            step = min(slope / curvature, *rooms)
        if not self.zone:
            self.dual_gain += step * (slope - 0.5 * step * curvature)
        after = beta[i] + step, beta[j] - step
        self.reach = max(self.reach, abs(after[0]), abs(after[1]))
        for k, end, room, value in zip((i, j), ends, rooms, after):
            rounding = self._rounding(k)
            beta[k] = end if room - step <= rounding else value
            if self.zone:
                kinks.round_to_zero(self, k, rounding)
        self._move_gradient(step * (self.kernel[i] - self.kernel[j]), (i, j), (step, -step))

    def _single(self):
        """Return the violation, and the coordinate whose own step gains most with step and gain."""
        curvature = np.maximum(self.diagonal, TINY)
        step, gain = kinks.single_steps(self, curvature)
        grow, shrink = kinks.slopes(self)
        i = int(np.argmax(gain))
        violation = np.maximum(grow, -shrink).max(where=step != 0, initial=0.0)
        return violation, (i, step[i], gain[i]) if gain[i] > 0 else None

    def _move_single(self, i, step, gain):
        self.dual_gain += gain
        up, low, after = self.upper[i] - self.beta[i], self.lower[i] - self.beta[i], self.beta[i] + step
        self.reach = max(self.reach, abs(after))
        rounding = self._rounding(i)
        self.beta[i] = self.upper[i] if up - step <= rounding else self.lower[i] if step - low <= rounding else after
        self._move_gradient(step * self.kernel[i], [i], [step])

    def _rounding(self, k):
        """Return the largest change of beta_k that counts as rounding."""
        return min(self.least_change[k], SAME_BETA * self.reach)

    def _move_gradient(self, change, moved, steps):
        self.e -= change
        for k, step in zip(moved, steps):
            self.e[k] -= step * self.ridge[k]
