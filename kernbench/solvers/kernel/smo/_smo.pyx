"""Sequential minimal optimisation with batched working sets, shrinking and a certified end.

One round:

    choose a working set --the kernel between its members--> solve it by pair steps
                         --rows of those that moved--------> update the gradient of all coordinates

The set keeps the newest half of the last one and takes the rest from both ends of the gradient. The kernel between a
thousand members costs little; whole rows, which take most of the time, are computed only for the members that moved, in
one batch of the kernel engine, float32 by default. The gradient is float64. Rows of few features or stored entries are
cheap: they are not kept, but added to the gradient tile by tile as they are computed.

* Small problems are one working set: the classic method on kernel rows held in memory (`_working_set`).
* Shrinking (`active_set`) leaves out coordinates that will stay at their bound.
* `converged` means that the largest violation of the optimality conditions over *all* coordinates is at most `tol`,
  and that the certified gap is not a large part of the objective (`certificate`).
* Without progress (`stagnation`) the gradient is recomputed and working sets get smaller. If this does not help,
  `advance` returns 0, and the run ends as "stalled".
"""

from cython.parallel cimport prange
from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

import numpy as np

from kernbench.losses.regression import QUADRATIC_LOSSES, example_loss
from kernbench.problems.nu_problem import NuLoss, kernel_problem
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.certificate import MOST_GAP, is_certified, is_zero, least_goal, rescaled
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA, State
from kernbench.solvers.kernel.smo.stagnation import CLASSIC_LOOK, Stagnation

CLASSIC_ROWS = 4000     # up to this size the whole problem is one working set; at 5,000 rows it gains and loses
EXACT_ROWS = 64         # up to this size the last digits cost almost nothing
EXACT_GOAL = 1e-11      # ... so the violation is reduced to this
WORKING_SET_SIZE = 1024
LARGE_SET_SIZE = 1536   # ... for rows so long that the kernel between members costs little in comparison:
LARGE_ROWS = 20_000     # from this many rows on
INNER_ACCURACY = 0.1    # a set is solved until its violation is this share of the global one
SHRINK_EVERY = 4        # rounds between two attempts to shrink
CREEPING = 200          # progress checks after which steps on the whole problem are extrapolated
BATCH_ROWS = 64         # a cache of fewer rows than this does not help: steps bypass it

cdef enum:
    STRETCH = 2048      # columns of the gradient that a thread updates at a time


cdef class SMO:
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
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin (LIBSVM's ``tol``), or in a regression of
        the targets' mean distance from the best constant.
    random_state : ignored
        The method has no randomness.
    initial : Solution, optional
        Start from these coefficients, clipped to the box. ``initial.state["products"]``, if present, is taken to be K
        times them.
    loss : str or ResidualLoss, default="hinge"
        One of `losses`.
    working_set_size : int, optional
        1024 by default, from 20,000 rows on 1536.
    shrinking : bool, default=True
    classic_rows : int, default=4000
        Problems of at most this many rows are solved as one working set.

    References
    ----------
    Platt 1998; Joachims 1999; Fan, Chen, Lin, JMLR 6 (2005).
    """

    cdef public double tol
    cdef public bint rough              # a first approximation: stop at `tol` uncertified, keep the size of the sets
    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly double violation
    cdef readonly object problem
    cdef readonly object members        # the last working set, oldest first; positions among the active coordinates
    cdef readonly Py_ssize_t rounds
    cdef KernelRows rows
    cdef WorkingSet inner
    cdef object active                  # ActiveSet
    cdef object stagnation              # Stagnation
    cdef Py_ssize_t set_size
    cdef bint classic, with_bias, shrinking, loaded
    cdef double dual                    # the dual objective, updated in every round
    cdef double highest_dual, total_width
    cdef double unit                    # of a violation: 1 for margins, the size of targets
    cdef double goal                    # violation to reach: `tol`, or less if the gap requires it
    cdef Py_ssize_t last_shrunk, extra_steps, until_look, looks
    cdef Py_ssize_t n_kept              # members that the last set kept from the one before
    cdef object last_looked             # coefficients and gradient at the last check, while steps are tiny
    cdef object intercept               # of a rescaled solution; None for the usual one
    cdef double last_objective
    cdef long long objective_at         # step at which it was computed

    losses = QUADRATIC_LOSSES
    granularity = 1
    first_check = None

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", tol=1e-3, random_state=None,
                 initial=None, working_set_size=None, shrinking=True, classic_rows=CLASSIC_ROWS):
        if working_set_size is None:
            working_set_size = LARGE_SET_SIZE if len(y) >= LARGE_ROWS else WORKING_SET_SIZE
        check_number("working_set_size", working_set_size, at_least=2, whole=True)
        check_number("classic_rows", classic_rows, at_least=0, whole=True)
        check_number("tol", tol, above=0)
        if not isinstance(loss, NuLoss):
            example_loss(loss, self.losses)
        self.problem = kernel_problem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self.rows, self.tol, self.with_bias = rows, tol, fit_intercept
        n = self.problem.n
        state = State.of(self.problem, rows.diagonal())
        self.active = ActiveSet(self.problem, rows, state)
        if initial is not None:
            state.beta = self.problem.feasible(initial.coef)
            self.n_iter = initial.n_iter
            self.active.start_gradient(initial, SAME_BETA * np.abs(state.beta).max())
        elif (start := self.problem.start()) is not None:
            state.beta = start
            self.active.compute_gradient()
        self.dual, self.unit = state.dual(), self.problem.unit()
        self.members = np.empty(0, dtype=np.intp)
        self.classic = n <= classic_rows and rows.capacity >= n
        self.set_size = n if self.classic else min(n, working_set_size // 2 * 2)
        self.shrinking = shrinking and rows.can_restrict and not self.classic
        self.inner = WorkingSet(self.set_size, rows.single, fit_intercept, self.classic, self.classic and shrinking,
                                state.zone, state.constraint)
        self.stagnation = Stagnation(self.dual, rows.single)
        self.goal, self.extra_steps, self.objective_at, self.until_look = np.inf, -1, -1, CLASSIC_LOOK * n
        # The squared hinge bounds no coefficient: where the kernel is not positive semi-definite, the dual objective
        # may have no maximum. By weak duality it should stay below the primal one at f = 0.
        self.total_width = np.sum(state.upper - state.lower)
        self.highest_dual = np.inf
        if not np.isfinite(self.total_width):
            self.highest_dual = 2.0 * self.problem.objective(np.zeros(n), 0.0, 0.0) / alpha

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    # --- the iteration -----------------------------------------------------------------------------------------------

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

    cdef Py_ssize_t _classic_round(self, Py_ssize_t budget) except -1:
        """Pair steps on the whole problem, in memory."""
        cdef Py_ssize_t steps, n = self.problem.n
        cdef double goal = min(self.tol * self.unit, self.goal), exact = EXACT_GOAL * self.unit
        if not self.loaded:
            if n > EXACT_ROWS and self.extra_steps < 0:  # a start may be a solution: no row is needed to see that
                self.violation = self.active.state.violation(self.with_bias)
                if self.violation <= goal:
                    self.converged = self._conclude()
                    if self.converged or self.stagnation.stuck:
                        return 0
                    goal = min(goal, self.goal)
            self.inner.load(self.rows, np.arange(n, dtype=np.intp), self.active.state)
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

    cdef int _look(self, Py_ssize_t steps) except -1:
        """Check the progress of steps on the whole problem."""
        self.looks += 1
        if self.stagnation.look(self.dual, self.violation, CLASSIC_LOOK * self.problem.n):
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
        return 0

    cdef Py_ssize_t _solve(self, double goal, Py_ssize_t budget) except -1:
        """Steps inside the set; 0 if the objective grows beyond its bound, and the run ends before these steps."""
        cdef Py_ssize_t steps
        cdef double before = self.inner.dual_gain
        self.inner.most_gain = before + self.highest_dual - self.dual
        with nogil:
            steps = self.inner.solve(goal, budget)
        if not self.inner.dual_gain <= self.inner.most_gain:
            self.stagnation.stuck = True
            return 0
        return steps

    cdef Py_ssize_t _round(self) except -1:
        """Choose a working set, solve it, update the gradient; test for the end first."""
        cdef Py_ssize_t steps
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
            self.inner.load(self.rows, self.members, self.active.state)
            steps = self._solve(max(0.5 * tol, INNER_ACCURACY * self.violation), 100 * len(self.members))
            if steps:
                break
            if self.stagnation.stuck or not self._freshen():
                return 0
        self.stagnation.exact = False
        self._move()
        self.rounds += 1
        if self.stagnation.look(self.dual, self.violation, steps):
            self.set_size = self.stagnation.smaller_set(self.set_size, self.set_size if self.rough else 2)
            if not self.stagnation.stuck:
                self._start_anew()
        elif self.shrinking and self.rounds - self.last_shrunk >= SHRINK_EVERY:
            self.last_shrunk = self.rounds
            self.members = self.active.shrink(self.members)
        return steps

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

    def _choose(self, tol):
        """The next working set: the newest half of the last one, and the coordinates that violate most; sets
        `violation`."""
        # After shrinking to fewer than two working sets, solve the rest as one: two would alternate for many rounds.
        size, state = self.set_size, self.active.state
        if self.active.indices is not None and len(state.beta) <= 2 * size:
            size = len(state.beta)
        kept = self.members[len(self.members) // 2 :] if len(self.members) >= size else self.members
        kept = kept[: size // 2]
        self.n_kept = len(kept)
        self.members, self.violation = state.choose(size, kept, 0.5 * tol, self.with_bias)

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
        height = self.rows.capacity
        if self.rows.cheap or height < min(len(moved), BATCH_ROWS):
            state.e -= self.rows.step(moved, changes)
        else:
            for first in range(0, len(moved), height):
                self._add_rows(moved[first : first + height], -changes[first : first + height])
        # The gain of the dual objective by the updated gradient, not by the set's own kernel values.
        if self.active.indices is None:
            self.dual = state.dual()
        else:
            self.dual += 0.5 * float(changes @ (before + state.e[moved]))
            if state.zone:
                now = state.beta[moved]
                self.dual -= state.zone * float((np.abs(now) - np.abs(now - changes)).sum())

    cdef int _add_rows(self, const Py_ssize_t[::1] moved, const double[::1] steps) except -1:
        """e += K[:, moved] steps, through the cache."""
        cdef:
            double[::1] e = self.active.state.e
            Py_ssize_t n = e.shape[0], m = moved.shape[0], t, n_tasks = (n + STRETCH - 1) // STRETCH
            bint single = self.rows.single
            void **pointers = <void **> allocate(m * sizeof(void *))
        try:
            with nogil:
                self.rows.fetch(&moved[0], m, pointers)
                for t in prange(n_tasks, schedule="static", use_threads_if=n * m > 200000):
                    if single:
                        add_rows_float(<float **> pointers, &steps[0], m, t * STRETCH,
                                       min(n, (t + 1) * STRETCH), &e[0])
                    else:
                        add_rows_double(<double **> pointers, &steps[0], m, t * STRETCH,
                                        min(n, (t + 1) * STRETCH), &e[0])
        finally:
            free(pointers)
        return 0

    # --- what it found -------------------------------------------------------------------------------------------------

    def check(self, tol):
        """Return whether the rule, which `advance` tests, holds (also while further digits are computed)."""
        if not self.converged and self.classic and self.loaded and self.violation <= tol * self.unit:
            self.converged = is_certified(self.problem, self.active.state, self._intercept(), tol)
        return self.converged

    def _intercept(self):
        if self.intercept is not None:
            return self.intercept
        return self.active.state.intercept() if self.with_bias else 0.0

    def solution(self):
        """The current coefficients and intercept; the state holds K times the coefficients, if all are active."""
        self.active.write_back()
        whole, state = self.active.whole, {}
        if whole.constraint != "sum":
            state["level"] = np.array([self.active.state.level()])
        if self.active.indices is None:
            state["products"] = whole.scores()
        return Solution(whole.beta.copy(), self._intercept(), self.n_iter, state)

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum that never decreases; known at no cost."""
        return self.problem.alpha * self.dual

    def objective(self):
        """The primal objective; if coordinates are left out, their gradient is computed."""
        if self.objective_at != self.n_iter:
            e, whole = self.active.full_gradient(count=False), self.active.whole
            scores = whole.linear - e - whole.ridge * whole.beta
            self.last_objective = self.problem.objective(scores, float(whole.beta @ scores), self._intercept())
            self.objective_at = self.n_iter
        return self.last_objective

    def gap(self):
        """Primal minus dual objective, a certified bound on the distance to the optimum."""
        return max(self.objective() - self.dual_objective(), 0.0)
