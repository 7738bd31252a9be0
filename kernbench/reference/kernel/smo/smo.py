"""Sequential minimal optimisation: the dual of the kernel SVM, a working set at a time, two coordinates a step.

The dual is

    maximise  D(beta) = sum_i p_i beta_i - zone |beta_i| - 1/2 beta' (K + R) beta   with  lower <= beta <= upper,
                                                                             sum beta = 0 (with a bias),

and e = p - (K + R) beta is the gradient of its smooth part. In classification beta_i = y_i a_i, p_i = y_i and zone
is 0. For the hinge R = 0; the squared hinge has no upper bound but the ridge R_ii = alpha n / (2 w_i), which makes
1/2 beta' R beta the sum of w_i a_i^2 / 4 over alpha n. In a regression p_i is the target, and the loss of a residual
has the dual value -zone |a| - bend/2 a^2 on an interval (`losses.regression`): R_ii = bend alpha n / w_i, and D has a
kink at 0 if zone > 0. There the slope of D in beta_i is e_i - zone upwards and e_i + zone downwards.

beta is optimal when no coordinate that can grow has a larger slope than one that can shrink. A step takes a violating
pair (i, j), chosen by second-order information (Fan, Chen, Lin, JMLR 2005), and moves beta_i up and beta_j down as far
as D grows: at a kink the slope of the step falls by 2 zone. Without a bias single coordinates move.

Problems with a share nu (`problems.nu_problem`) have zone 0 and a second constraint: of the sums of the positive and
of the negative coefficients, or of sum |beta|, which is at most M. Then pairs are of one sign; with a bound on sum
|beta| a negative beta_i may also grow while a positive beta_j shrinks and, where it is not active, any pair may move.

Working sets: the coordinates that violate the conditions most form a set, steps are taken inside it until its own
violation is small, then the gradient of all is updated with the kernel rows of those that moved. A small problem is one
set. Shrinking: coordinates at a bound that no violating partner could move away from it are ignored until the others
are solved. If one set is the whole problem, the others are its core: first solved until its violation is a tenth, then,
unless an ignored coordinate violates the conditions more, to the end. (This saves nothing here, where the gradient of
all is kept; the compiled twin leaves them out of its arrays.)

Stopping: the largest violation is at most `tol`, and the certified gap is not a large part of the objective. A
violation v bounds the gap by v times the widths of the boxes, which is more than the objective if C is very large; then
the best multiple of the solution and the best intercept for it are taken, or else v is reduced.
"""

import numpy as np

from kernbench.losses.regression import QUADRATIC_LOSSES, example_loss
from kernbench.problems.nu_problem import NuLoss, kernel_problem
from kernbench.reference.kernel.smo.certificate import MOST_GAP, best_scale, is_certified, is_zero, least_goal
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

TINY = 1e-12  # curvature of a pair of equal points
SAME_SIZE = 1e-10  # share of M that counts as rounding
SAME_BETA = 1e-13  # share of its box, and of the largest coefficient so far, within which a coefficient is at its bound


class SMO:
    """Kernel SVM by sequential minimal optimisation.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1; targets for a loss of residuals.
    alpha : float
        Weight of the norm, ``1 / (C n)``.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin, or of the size of targets.
    random_state : ignored
    initial : Solution, optional
        Start from these coefficients, clipped to the box.
    working_set_size : int, optional
        1024 by default, from 20,000 rows on 1536.
    shrinking : bool, default=True
    classic_rows : int, default=4000
        Problems of at most this many rows are one working set.
    """

    losses = QUADRATIC_LOSSES
    granularity = 1
    first_check = None

    INNER_ACCURACY = 0.1  # a set is solved until its violation is this share of the global one
    SHRINK_EVERY, SHRINK_SHARE = 4, 0.3
    SHRINK_STEPS, SHRINK_ROWS, CORE_ACCURACY = 100, 200, 0.1  # of a problem that is one working set
    EXACT_ROWS, EXACT_GOAL = 64, 1e-11  # small problems are solved to more digits than requested

    def __init__(
        self,
        rows,
        y,
        *,
        alpha,
        weights=None,
        fit_intercept=True,
        loss="hinge",
        tol=1e-3,
        random_state=None,
        initial=None,
        working_set_size=None,
        shrinking=True,
        classic_rows=4000,
    ):
        if working_set_size is None:
            working_set_size = 1536 if len(y) >= 20_000 else 1024
        check_number("working_set_size", working_set_size, at_least=2, whole=True)
        check_number("classic_rows", classic_rows, at_least=0, whole=True)
        check_number("tol", tol, above=0)
        if not isinstance(loss, NuLoss):
            example_loss(loss, self.losses)
        self.problem = problem = kernel_problem(
            rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss
        )
        self.rows, self.tol, self.unit = rows, tol, problem.unit()
        n, self.linear, self.zone = problem.n, problem.linear, problem.loss.zone
        self.constraint = problem.constraint
        self.size = problem.size() if self.constraint == "size" else np.inf
        self.lower, self.upper = self.problem.box()
        self.ridge, self.least_change = self._ridge()
        self.beta, self.e = np.zeros(n), self.linear.copy()
        self.diagonal = rows.diagonal() + self.ridge
        self.n_iter, self.n_kernel_evaluations, self.rounds = 0, 0, 0
        self.converged, self.stuck, self.violation = False, False, np.inf
        self.goal, self.intercept = np.inf, None  # goal: a violation below `tol`, if the gap requires it
        if initial is not None:
            self.n_iter = initial.n_iter
            self.beta = problem.feasible(initial.coef)
            self.e -= rows.matvec(self.beta) + self.ridge * self.beta
        elif (start := problem.start()) is not None:
            self.beta = start
            self.e -= rows.matvec(start)
        self.reach = np.abs(self.beta).max()  # the largest coefficient so far
        self.dual = self._dual()
        self.classic = n <= classic_rows
        self.set_size = n if self.classic else min(n, working_set_size // 2 * 2)
        self.shrinks_core = shrinking and self.classic and n >= self.SHRINK_ROWS
        self.core, self.core_goal, self.trusted = None, 0.0, False
        self.until_shrink = self.SHRINK_STEPS
        self.shrinking = shrinking and not self.classic
        self.active = np.ones(n, dtype=bool)
        self.members = np.empty(0, dtype=np.intp)
        self.last_look = 0
        self.extra_steps = -1
        self.kernel = None  # all of it, for the classic method
        self.known = np.zeros(n, dtype=bool)  # whether the row was computed before

    def _ridge(self):
        """Return the diagonal of R, and the rounding error of each coefficient as a share of its box."""
        problem = self.problem
        if problem.loss.bend == 0.0:
            return np.zeros(problem.n), SAME_BETA * (self.upper - self.lower)
        weights = problem.weights
        used = np.where(weights > 0, weights, np.inf)
        full = used / problem.loss.bend / (problem.alpha * problem.n)  # |beta| at a slope of 1 / bend
        return np.where(weights > 0, 1 / full, 0.0), np.where(weights > 0, SAME_BETA * self.unit * full, 0.0)

    def _dual(self):
        """The dual objective, from the coefficients and their gradient."""
        return 0.5 * self.beta @ (self.e + self.linear) - self.zone * np.abs(self.beta).sum()

    def _slopes(self, beta, e):
        """The slopes of the dual objective where coordinates grow, and where they shrink."""
        return e - np.where(beta >= 0, self.zone, -self.zone), e - np.where(beta > 0, self.zone, -self.zone)

    def _room(self):
        """By how much sum |beta| may grow."""
        if self.constraint != "size":
            return np.inf
        room = self.size - np.abs(self.beta).sum()
        return room if room > SAME_SIZE * self.size else 0.0

    def _families(self, beta, lower, upper, room):
        """Pairs of masks: the coordinates that can grow, and those that can shrink as they do."""
        can_grow, can_shrink = beta < upper, beta > lower
        if self.constraint == "sum" or (self.constraint == "size" and room > 0):
            return [(can_grow, can_shrink)]
        partners = can_shrink if self.constraint == "size" else can_shrink & (beta <= 0)
        return [(can_grow & (beta >= 0), beta > 0), (beta < 0, partners)]

    def _ends(self, families, grow, shrink):
        """For each family its largest slope of growth and its least one of shrinkage."""
        return [
            (grow.max(where=can_grow, initial=-np.inf), shrink.min(where=can_shrink, initial=np.inf))
            for can_grow, can_shrink in families
        ]

    def advance(self, n_iter):
        """Take about `n_iter` steps (a working set that was begun is finished); return how many."""
        done = 0
        while done < n_iter and not self.converged and not self.stuck:
            self.intercept = None
            steps = self._classic_round(n_iter - done) if self.classic else self._round()
            if steps == 0:
                break
            done += steps
        self.n_iter += done
        return done

    def _classic_round(self, budget):
        """Steps on the whole problem."""
        goal, exact = min(self.tol * self.unit, self.goal), self.EXACT_GOAL * self.unit
        if self.problem.n > self.EXACT_ROWS and self.extra_steps < 0:  # a start may be a solution
            self.violation = self._largest_violation()
            if self.violation <= goal:
                self.converged = self._conclude()
                if self.converged:
                    return 0
                goal = min(goal, self.goal)
        if self.extra_steps >= 0:
            steps, violation = self._solve_whole(min(goal, exact), min(budget, self.extra_steps))
        else:
            steps, violation = self._solve_whole(goal, budget)
        self.violation = violation
        if self.extra_steps >= 0:
            self.extra_steps -= steps
            if violation <= exact or self.extra_steps == 0 or steps == 0:
                self.converged = self._conclude()
        elif violation <= goal:
            if self.problem.n <= self.EXACT_ROWS and self.goal == np.inf:
                self.extra_steps = max(1000, self.n_iter + steps)
            else:
                self.converged = self._conclude()
            return max(steps, 1)
        return steps

    def _solve_whole(self, goal, budget):
        """Steps on all coordinates and on cores of them; return the steps and the violation left."""
        whole, steps = np.arange(self.problem.n), 0
        if not self.shrinks_core:
            return self._solve(whole, goal, budget)
        while True:
            if self.core is None:
                room = min(budget - steps, self.until_shrink)
                done, violation = self._solve(whole, goal, room)
                steps += done
                self.until_shrink -= done
                if violation <= goal or done < room or steps == budget:
                    return steps, violation
                stays = self._shrinkable()
                if stays.sum() >= self.SHRINK_SHARE * len(stays):
                    self.core = np.flatnonzero(~stays)
                    self.core_goal = 0.0 if self.trusted else self.CORE_ACCURACY * violation
                self.until_shrink = self.SHRINK_STEPS
                if self.core is None:
                    continue
            room, target = budget - steps, max(goal, self.core_goal)
            done, inside = self._solve(self.core, target, room)
            steps += done
            violation = self._largest_violation()
            if inside > target and done == room:
                return steps, violation
            self.core, self.trusted = None, inside <= target and violation <= target
            if self.trusted and violation > goal:
                self.until_shrink = 0

    def _round(self):
        """One working set."""
        while True:
            members, tol = self._choose(), min(self.tol * self.unit, self.goal)
            if self.violation <= tol:
                if self.active.all():
                    self.converged = self._conclude()
                    if self.converged or self.stuck:
                        return 0
                else:
                    self._restore()
                continue
            goal = max(0.5 * tol, self.INNER_ACCURACY * self.violation)
            steps, _ = self._solve(members, goal, 100 * len(members))
            if steps:
                break
            if not self.n_kept:
                return 0
            self.members = np.empty(0, dtype=np.intp)  # try the largest violations alone
        self.rounds += 1
        if self.shrinking and self.rounds - self.last_look >= self.SHRINK_EVERY:
            self.last_look = self.rounds
            self._shrink()
        return steps

    def _solve(self, members, goal, budget):
        """Steps inside the working set, then the gradient of all; return the steps and the violation left inside."""
        n = self.problem.n
        if self.classic and self.kernel is None:
            self.kernel = np.asarray(self.rows.batch(members), dtype=np.float64)
            self.n_kernel_evaluations += n * n
        block = self.kernel[np.ix_(members, members)] if self.classic else self._between(members)
        block = block + np.diag(self.ridge[members])
        beta, e, diagonal = self.beta[members], self.e[members], self.diagonal[members]
        lower, upper, least_change = self.lower[members], self.upper[members], self.least_change[members]
        step = self._pair_step if self.problem.fit_intercept else self._single_step
        steps, self.room = 0, self._room()
        while True:
            violation, move = step(block, beta, e, diagonal, lower, upper, least_change, goal)
            if move is None or steps >= budget:
                break
            move()
            steps += 1
        changes = beta - self.beta[members]
        moved = members[changes != 0]
        rows = self.kernel[moved] if self.classic else self._rows_of(moved)
        self.e -= rows.T @ changes[changes != 0] + self.ridge * _spread(changes, members, n)
        self.beta[members] = beta
        return steps, violation

    def _between(self, members):
        """The kernel between the members of a set."""
        self.n_kernel_evaluations += len(members) ** 2
        return np.asarray(self.rows.block(members, members), dtype=np.float64)

    def _rows_of(self, moved):
        self.n_kernel_evaluations += self.problem.n * int(np.sum(~self.known[moved]))
        self.known[moved] = True
        return np.asarray(self.rows.batch(moved), dtype=np.float64)

    def _pair_step(self, block, beta, e, diagonal, lower, upper, least_change, goal):
        """The violation inside the set, and the step on its best pair (None when the violation is at most `goal`)."""
        grow, shrink = self._slopes(beta, e)
        families = self._families(beta, lower, upper, self.room)
        ends = self._ends(families, grow, shrink)
        number = int(np.argmax([top - bottom for top, bottom in ends]))  # the family of the largest violation
        (can_grow, can_shrink), (top, bottom) = families[number], ends[number]
        violation = max(top - bottom, 0.0)
        if not violation > goal:
            return violation, None
        i = int(np.argmax(np.where(can_grow, grow, -np.inf)))
        curvature = diagonal[i] + diagonal - 2 * block[i]
        curvature[i] = 0.0  # its own entry in the block holds the ridge; it is never chosen
        curvature = np.maximum(curvature, TINY)
        gain = np.where(can_shrink, np.maximum(top - shrink, 0.0), 0.0) ** 2 / curvature
        j = int(np.argmax(gain))
        if gain[j] <= 0:
            return violation, None

        def move():
            end_i, end_j = upper[i], lower[j]
            if self.constraint != "sum":  # a family may end at 0
                end_i, end_j = 0.0 if beta[i] < 0 else end_i, 0.0 if beta[j] > 0 else end_j
            room_i, room_j = end_i - beta[i], beta[j] - end_j
            s = self._step_over_kinks(beta[i], beta[j], top - shrink[j], curvature[j], min(room_i, room_j))
            self.reach = max(self.reach, abs(beta[i] + s), abs(beta[j] - s))
            rounding = np.minimum(least_change[[i, j]], SAME_BETA * self.reach)
            beta[i] = end_i if room_i - s <= rounding[0] else beta[i] + s
            beta[j] = end_j if room_j - s <= rounding[1] else beta[j] - s
            if self.zone:
                beta[[i, j]] = np.where(np.abs(beta[[i, j]]) <= rounding, 0.0, beta[[i, j]])
            e[:] -= s * (block[i] - block[j])

        return violation, move

    def _step_over_kinks(self, beta_i, beta_j, slope, curvature, end):
        """The best step of a pair up to `end`, piece by piece between the kinks, where a coefficient is 0."""
        growth = (1 if beta_i >= 0 else -1) + (1 if beta_j <= 0 else -1)  # of sum |beta|
        if growth > 0:
            end = min(end, self.room / growth)
        kinks = sorted(kink for kink in (-beta_i, beta_j) if kink > 0 and self.zone)
        step = 0.0
        for kink in (*kinks, np.inf):
            length = min(slope / curvature, end - step, kink - step)
            self.dual += length * (slope - 0.5 * length * curvature)
            at_kink = length == kink - step
            step = kink if at_kink else step + length
            slope -= length * curvature + 2 * self.zone
            if not at_kink or step >= end or slope <= 0:
                break
        if self.constraint == "size":
            self.room = 0.0 if growth > 0 and step >= self.room / growth else self.room - growth * step
        return step

    def _single_step(self, block, beta, e, diagonal, lower, upper, least_change, goal):
        """The same for one coordinate: the one whose own step gains most."""
        curvature = np.maximum(diagonal, TINY)
        s, gain = self._single_steps(beta, e, curvature, lower, upper)
        grow, shrink = self._slopes(beta, e)
        violation = np.maximum(grow, -shrink).max(where=s != 0, initial=0.0)
        i = int(np.argmax(gain))
        if not violation > goal or gain[i] <= 0:
            return violation, None

        def move():
            self.dual += gain[i]
            self.reach = max(self.reach, abs(beta[i] + s[i]))
            rounding = min(least_change[i], SAME_BETA * self.reach)
            if upper[i] - beta[i] - s[i] <= rounding:
                beta[i] = upper[i]
            elif s[i] - (lower[i] - beta[i]) <= rounding:
                beta[i] = lower[i]
            else:
                beta[i] += s[i]
            e[:] -= s[i] * block[i]

        return violation, move

    def _single_steps(self, beta, e, curvature, lower, upper):
        """The best step of each coordinate by itself, and its gain: soft thresholding, within the box."""
        best = beta + e / curvature
        best = np.sign(best) * np.maximum(np.abs(best) - self.zone / curvature, 0.0) if self.zone else best
        step = best - beta if self.zone else e / curvature
        step = np.clip(step, lower - beta, upper - beta)
        kink = self.zone * (np.abs(beta + step) - np.abs(beta))
        return step, step * (e - 0.5 * step * curvature) - kink

    def _choose(self):
        """Return the next working set: the newest half of the last one, and the largest violations; set `violation`."""
        beta, e, active = self.beta, self.e, self.active
        slack = 0.5 * min(self.tol * self.unit, self.goal)  # coordinates of a smaller violation are not chosen
        grow, shrink = self._slopes(beta, e)
        if self.problem.fit_intercept:
            families = self._active_families()
            ends = self._ends(families, grow, shrink)
            self.violation = max(0.0, *(top - bottom for top, bottom in ends))
            sides, urgency = [], []
            for (can_grow, can_shrink), (top, bottom) in zip(families, ends):
                sides += [np.flatnonzero(can_grow & (grow > bottom + slack))]
                sides += [np.flatnonzero(can_shrink & (shrink < top - slack))]
                urgency += [grow[sides[-2]], -shrink[sides[-1]]]
        else:
            can_grow, can_shrink = (beta < self.upper) & active, (beta > self.lower) & active
            size = np.maximum(np.where(can_grow, grow, 0.0), np.where(can_shrink, -shrink, 0.0))
            self.violation = size.max(initial=0.0)
            side = np.flatnonzero(size > slack)
            _, gain = self._single_steps(
                beta[side], e[side], np.maximum(self.diagonal[side], TINY), self.lower[side], self.upper[side]
            )
            sides, urgency = [side, side], [gain, size[side]]
        in_play = int(np.count_nonzero(self.active))
        size = in_play if in_play <= 2 * self.set_size and in_play < self.problem.n else self.set_size
        full = len(self.members) >= size
        kept = (self.members[len(self.members) // 2 :] if full else self.members)[: size // 2]
        taken = np.zeros(self.problem.n, dtype=bool)
        taken[kept] = True
        self.n_kept = len(kept)
        chosen, room = [kept], size - len(kept)
        for number, (side, need) in enumerate(zip(sides, urgency)):
            share = room // (len(sides) - number)
            free = ~taken[side]
            side, need = side[free], need[free]
            if len(side) > share:
                side = side[np.argpartition(-need, share - 1)[:share]]
            taken[side] = True
            room -= len(side)
            chosen.append(np.sort(side))
        self.members = np.concatenate(chosen)
        return self.members

    def _shrinkable(self):
        """A mask of the coordinates at a bound or kink that no violating partner could move away from it."""
        grow, shrink = self._slopes(self.beta, self.e)
        if not self.problem.fit_intercept:
            return ((self.beta >= self.upper) | (grow < 0)) & ((self.beta <= self.lower) | (shrink > 0))
        stays, families = np.ones(len(grow), dtype=bool), self._active_families()
        for (can_grow, can_shrink), (top, bottom) in zip(families, self._ends(families, grow, shrink)):
            stays &= (~can_grow | (grow < bottom)) & (~can_shrink | (shrink > top))
        return stays

    def _active_families(self):
        families = self._families(self.beta, self.lower, self.upper, self._room())
        return [(can_grow & self.active, can_shrink & self.active) for can_grow, can_shrink in families]

    def _shrink(self):
        shrinkable = self._shrinkable() & self.active
        shrinkable[self.members] = False
        if shrinkable.sum() >= self.SHRINK_SHARE * self.active.sum():
            self.active &= ~shrinkable

    def _restore(self):
        """Activate all; then leave out those that were left out before and still satisfy the conditions."""
        was_active = self.active
        self.active = np.ones(self.problem.n, dtype=bool)
        members = self.members
        self._choose()
        self.members = members
        if self.violation > min(self.tol * self.unit, self.goal):
            shrinkable = self._shrinkable() & ~was_active
            if shrinkable.sum() >= self.SHRINK_SHARE * len(shrinkable):
                shrinkable[self.members] = False
                self.active = ~shrinkable

    def _conclude(self):
        """Return, once the violation is at most the goal, whether the run ends, by the gap; see the head of this
        file."""
        goal = 0.1 * min(self.tol * self.unit, self.goal, self.violation)
        is_last = goal < least_goal(self.linear, self.beta, self.diagonal)
        share = max(MOST_GAP, self.tol) if is_last else self.tol  # by rounding, no smaller gap can be reached
        if self._is_certified(share):
            return True
        found = self.beta, self.diagonal, self._scores(), self._intercept()
        if is_zero(self.problem, *found, self.violation, self.tol * self.unit):
            return True
        before, scores = (self.beta, self.e, self.dual), self._scores()
        scale, self.intercept = best_scale(self.problem, self.beta, scores, self.lower, self.upper)
        self.beta = scale * self.beta
        self.e = self.linear - scale * scores - self.ridge * self.beta
        self.dual = self._dual()
        if self._largest_violation() <= self.tol * self.unit and self._is_certified(share):
            return True
        (self.beta, self.e, self.dual), self.intercept = before, None
        self.goal, self.extra_steps, self.stuck = goal, -1, is_last
        return False

    def _is_certified(self, tol):
        return is_certified(self.problem, self.beta, self._scores(), self._intercept(), self.dual, tol)

    def _largest_violation(self):
        grow, shrink = self._slopes(self.beta, self.e)
        if self.problem.fit_intercept:
            families = self._families(self.beta, self.lower, self.upper, self._room())
            return max(0.0, *(top - bottom for top, bottom in self._ends(families, grow, shrink)))
        can_grow, can_shrink = self.beta < self.upper, self.beta > self.lower
        return max(grow.max(where=can_grow, initial=0.0), -shrink.min(where=can_shrink, initial=0.0))

    def _scores(self):
        """K times the coefficients."""
        return self.linear - self.e - self.ridge * self.beta

    def check(self, tol):
        """Return whether the rule, which `advance` tests, holds (also while further digits are computed)."""
        if not self.converged and self.classic and self.violation <= tol * self.unit:
            self.converged = self._is_certified(tol)
        return self.converged

    def _intercept(self):
        """Mean slope of the coordinates that are at no bound or kink, else the middle of the admissible interval."""
        if self.intercept is not None:
            return self.intercept
        return float(np.mean(self._levels())) if self.problem.fit_intercept else 0.0

    def _levels(self):
        """That of each family: b, or b - rho and b + rho, or b + eps and b - eps."""
        free = (self.beta > self.lower) & (self.beta < self.upper)
        if self.zone or self.constraint != "sum":
            free &= self.beta != 0
        grow, shrink = self._slopes(self.beta, self.e)
        families = self._families(self.beta, self.lower, self.upper, self._room())
        levels = []
        for sign, (top, bottom) in zip((1, -1), self._ends(families, grow, shrink)):
            own = free if len(families) == 1 else free & (sign * self.beta > 0)
            finite = [end for end in (top, bottom) if np.isfinite(end)]
            levels.append(float(grow[own].mean()) if own.any() else float(np.mean(finite)) if finite else 0.0)
        return levels

    def solution(self):
        """Coefficients and intercept as of now; of a problem with a share nu also rho or eps."""
        state = {}
        if self.constraint != "sum":
            levels = self._levels()
            state["level"] = np.array([0.5 * abs(levels[0] - levels[-1])])
        return Solution(self.beta.copy(), self._intercept(), self.n_iter, state)

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum that only grows."""
        return self.problem.alpha * self.dual

    def objective(self):
        """The primal objective."""
        scores = self._scores()
        return self.problem.objective(scores, float(self.beta @ scores), self._intercept())

    def gap(self):
        """Primal minus dual objective."""
        return max(self.objective() - self.dual_objective(), 0.0)


def _spread(values, places, n):
    """An array of n zeros with `values` at `places`."""
    out = np.zeros(n)
    out[places] = values
    return out
