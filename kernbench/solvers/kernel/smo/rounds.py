"""The rounds of SMO, on rows of one precision: batched working sets, shrinking and a certified end.

One round:

    choose a working set --the kernel between its members--> solve it by pair steps
                         --rows of those that moved--------> update the gradient of all coordinates

The set keeps the newest half of the last one and takes the rest from both ends of the gradient. The kernel between a
thousand members costs little; whole rows, which take most of the time, are computed only for the members that moved, in
one batch of the kernel engine. The gradient is float64.

* Small problems are one working set: the classic method on kernel rows held in memory.
* Shrinking (`active_set`) leaves out coordinates that will stay at their bound.
* `converged` means that the largest violation of the optimality conditions over *all* coordinates is at most `tol`,
  and that the certified gap is not a large part of the objective (`certificate`).
* Without progress (`stagnation`) the gradient is recomputed and working sets get smaller. If this does not help,
  `advance` returns 0, and the run ends as "stalled"; with hopelessly slow progress as "stagnated".
"""

import numpy as np

from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.certificate import MOST_GAP, is_certified, is_zero, least_goal, rescaled
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA, State
from kernbench.solvers.kernel.smo.stagnation import CLASSIC_LOOK, Stagnation

CLASSIC_ROWS = 4000  # up to this size the whole problem is one working set; at 5,000 rows it gains and loses
EXACT_ROWS = 64  # up to this size the last digits cost almost nothing
EXACT_GOAL = 1e-11  # ... so the violation is reduced to this
WORKING_SET_SIZE = 1024
LARGE_SET_SIZE = 1536  # ... for rows so long that the kernel between members costs little in comparison:
LARGE_ROWS = 20_000  # from this many rows on
INNER_ACCURACY = 0.1  # a set is solved until its violation is this share of the global one
SHRINK_EVERY = 4  # rounds between two attempts to shrink
FAR = 0.01  # a dual objective that stays below this share of the primal one is hopeless
CREEPING = 200  # progress checks after which steps on the whole problem are extrapolated


class Rounds:
    """Working sets of a problem, one after the other.

    Parameters
    ----------
    problem : MarginProblem or NuProblem
    rows : KernelRows
        Of one precision.
    core : module
        See `kernbench.solvers.method.core_of`.
    initial : Solution or None
    working_set_size, classic_rows : int
    shrinking : bool
        As for `SMO`.

    Attributes
    ----------
    tol : float
        To be set before `advance`, as is `rough`.
    rough : bool
    n_iter : int
    converged : bool
    violation : float
    dual : float
        The dual objective, updated in every round.
    members : ndarray of intp
        The last working set, oldest first; positions among the active coordinates.
    n_kept : int
        Members that it kept from the one before.
    count : int
        Rounds done so far.
    inner : WorkingSet
        Of `core`.
    """

    def __init__(self, problem, rows, core, *, initial, working_set_size, shrinking, classic_rows):
        self.problem, self.rows, self.core, self.with_bias = problem, rows, core, problem.fit_intercept
        self.tol, self.rough, self.converged, self.n_iter, self.count = 1e-3, False, False, 0, 0
        n = problem.n
        state = State.of(problem, rows.diagonal())
        self.active = ActiveSet(problem, rows, state)
        if initial is not None:
            state.beta = problem.feasible(initial.coef)
            self.n_iter = initial.n_iter
            self.active.start_gradient(initial, SAME_BETA * np.abs(state.beta).max())
        elif (start := problem.start()) is not None:
            state.beta = start
            self.active.compute_gradient()
        self.dual, self.unit, self.violation = state.dual(), problem.unit(), 0.0
        self.members, self.n_kept = np.empty(0, dtype=np.intp), 0
        self.classic = n <= classic_rows and rows.capacity >= n
        self.set_size = n if self.classic else min(n, working_set_size // 2 * 2)
        self.shrinking = shrinking and rows.can_restrict and not self.classic
        self.inner = core.WorkingSet(self.set_size, rows.single, self.with_bias, self.classic,
                                     self.classic and shrinking, state.zone, state.constraint)  # fmt: skip
        self.loaded = False  # whether `inner` holds the whole problem
        self.stagnation = Stagnation(self.dual, rows.single)
        self.goal = np.inf  # violation to reach: `tol`, or less if the gap requires it
        self.extra_steps = -1  # left for digits beyond `tol`
        self.until_look, self.looks = CLASSIC_LOOK * n, 0
        self.last_looked = None  # coefficients and gradient at the last check, while steps are tiny
        self.last_shrunk = 0
        self.intercept = None  # of a rescaled solution; None for the usual one
        self.last_objective, self.objective_at = None, -1  # and the step at which it was computed
        # The squared hinge bounds no coefficient: where the kernel is not positive semi-definite, the dual objective
        # may have no maximum. By weak duality it should stay below the primal one at f = 0.
        self.total_width = float(np.sum(state.upper - state.lower))
        self.highest_dual = np.inf
        if not np.isfinite(self.total_width):
            self.highest_dual = 2.0 * problem.objective(np.zeros(n), 0.0, 0.0) / problem.alpha

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps (a working set that was begun is finished); return how many."""
        done = 0
        self.objective_at = -1
        while done < n_iter and not self.converged and not self.stagnation.stuck:
            self.intercept = None
            steps = self._classic_round(n_iter - done) if self.classic else self._round()
            if steps == 0:
                break
            done += steps
            self.n_iter += steps
        return done

    # --- one set of all ----------------------------------------------------------------------------------------------

    def _classic_round(self, budget):
        """Take pair steps on the whole problem, in memory."""
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
            steps = self._solve(min(goal, exact), min(budget, self.extra_steps, self.until_look))
        else:
            steps = self._solve(goal, min(budget, self.until_look))
        if self.stagnation.stuck:
            self.violation = np.inf
            return 0
        state = self.active.state
        state.beta[:], state.e[:] = np.asarray(self.inner.beta)[:n], np.asarray(self.inner.e)[:n]
        self.dual, self.violation = state.dual(), self.inner.violation
        self.until_look -= steps
        if self.until_look == 0:
            self.until_look = CLASSIC_LOOK * n
            if self.violation > goal:
                self._look(steps)
                if self.stagnation.stuck:
                    return steps
        if self.extra_steps >= 0:
            self.extra_steps -= steps
            if self.violation <= exact or self.extra_steps == 0 or steps == 0:
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

    def _look(self, steps):
        """Check the progress of steps on the whole problem."""
        self.looks += 1
        stagnates = self.stagnation.look(self.dual, self.violation, CLASSIC_LOOK * self.problem.n)
        if self._is_hopeless():
            self.stagnation.give_up()
        elif stagnates:
            if self.stagnation.may_renew():
                self.active.compute_gradient()
                self.loaded, self.stagnation.exact = False, True
        elif self.looks >= CREEPING:
            # If C is large compared with the curvature of the kernel, pairs move in one direction for millions of tiny
            # steps.
            state = self.active.state
            if self.last_looked is not None and state.extrapolate(*self.last_looked, self.with_bias):
                self.active.compute_gradient()
                self.dual, self.loaded = state.dual(), False
            self.last_looked = state.beta.copy(), state.e.copy()

    # --- several sets ------------------------------------------------------------------------------------------------

    def _round(self):
        """Choose a working set, solve it, update the gradient; test for the end first."""
        while True:
            tol = min(self.tol * self.unit, self.goal)
            self._choose(tol)
            if self.violation <= tol:
                if self.active.indices is None:
                    self.converged = self._conclude()
                    if self.converged or self.stagnation.stuck:
                        return 0
                else:
                    self.members, self.violation = self.active.restore(self.members, tol)
                continue
            self.core.load(self.inner, self.rows, self.members, self.active.state)
            steps = self._solve(max(0.5 * tol, INNER_ACCURACY * self.violation), 100 * len(self.members))
            if steps:
                break
            if self.stagnation.stuck or not self._freshen():
                return 0
        self.stagnation.exact = False
        self._move()
        self.count += 1
        stagnates = self.stagnation.look(self.dual, self.violation, steps)
        if self._is_hopeless():
            self.stagnation.give_up()
        elif stagnates:
            self.set_size = self.stagnation.smaller_set(self.set_size, self.set_size if self.rough else 2)
            if not self.stagnation.stuck:
                self._start_anew()
        elif self.shrinking and self.count - self.last_shrunk >= SHRINK_EVERY:
            self.last_shrunk = self.count
            self.members = self.active.shrink(self.members)
        return steps

    def _choose(self, tol):
        """Choose the next working set, the newest half of the last one and the coordinates that violate most; set
        `violation`."""
        # After shrinking to fewer than two working sets, solve the rest as one: two would alternate for many rounds.
        size, state = self.set_size, self.active.state
        if self.active.indices is not None and len(state.beta) <= 2 * size:
            size = len(state.beta)
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
        before = state.e[moved]
        state.beta[members] = after
        state.e[moved] -= state.ridge[moved] * changes
        self.core.subtract_rows(self.rows, moved, changes, state.e)
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
        self.active.activate_all()
        self.active.compute_gradient()
        self.dual = self.active.state.dual()
        self.stagnation.start_anew(self.dual)
        self.members = np.empty(0, dtype=np.intp)

    # --- the end -----------------------------------------------------------------------------------------------------

    def _solve(self, goal, budget):
        """Take steps inside the set; 0 if the objective grows beyond its bound, and the run ends before these steps."""
        steps = self.core.solve(self.inner, goal, budget, self.highest_dual - self.dual)
        self.stagnation.stuck |= steps < 0
        return max(steps, 0)

    def _is_hopeless(self):
        """Return whether the dual objective, at its steady rate, would stay far below the primal one."""
        problem = self.problem
        forecast = self.stagnation.forecast(self.dual, problem.n)
        if forecast is None or problem.lowest != 0.0:
            return False
        reached = problem.alpha * forecast
        if reached >= FAR * problem.at_zero[0]:
            return False
        self.objective_at = -1
        return reached < FAR * self.objective()

    def _conclude(self):
        """The violation over all coordinates is small enough: return whether the run ends.

        If the gap is large nevertheless, it is reduced by a multiple of the solution, or else by further steps.
        """
        state, problem = self.active.state, self.problem
        # The gap is at most the violation times the widths of the boxes, and the dual objective below the primal one.
        if self.rough or self.violation * self.total_width <= self.tol * self.dual:
            return True
        goal = 0.1 * min(self.tol * self.unit, self.goal, self.violation)
        is_last = goal < least_goal(state)
        share = max(MOST_GAP, self.tol) if is_last else self.tol  # by rounding, no smaller gap can be reached
        if is_certified(problem, state, self._intercept(), share):
            return True
        if is_zero(problem, state, self._intercept(), self.violation, self.tol * self.unit):
            return True
        moved, intercept = rescaled(problem, state)
        violation = moved.violation(self.with_bias)
        if violation <= self.tol * self.unit and is_certified(problem, moved, intercept, share):
            state.beta[:], state.e[:] = moved.beta, moved.e
            self.dual, self.violation, self.intercept = state.dual(), violation, intercept
            self.objective_at, self.loaded = -1, False
            return True
        self.goal, self.extra_steps, self.stagnation.stuck = goal, -1, is_last
        return False

    def check(self, tol):
        """Return whether the run has converged, or may end at this violation of the conditions."""
        if not self.converged and self.classic and self.loaded and self.violation <= tol * self.unit:
            self.converged = is_certified(self.problem, self.active.state, self._intercept(), tol)
        return self.converged

    def _intercept(self):
        if self.intercept is not None:
            return self.intercept
        return self.active.state.intercept() if self.with_bias else 0.0

    def solution(self):
        """Return the current coefficients and intercept, with K times the coefficients, if all are active."""
        self.active.write_back()
        whole, state = self.active.whole, {}
        if whole.constraint != "sum":
            state["level"] = np.array([self.active.state.level()])
        if self.active.indices is None:
            state["products"] = whole.scores()
        return Solution(whole.beta.copy(), self._intercept(), self.n_iter, state)

    def objective(self):
        """Return the primal objective; if coordinates are left out, their gradient is computed."""
        if self.objective_at != self.n_iter:
            e, whole = self.active.full_gradient(count=False), self.active.whole
            scores = whole.linear - e - whole.ridge * whole.beta
            self.last_objective = self.problem.objective(scores, float(whole.beta @ scores), self._intercept())
            self.objective_at = self.n_iter
        return self.last_objective
