"""Sequential minimal optimisation with batched working sets, shrinking and a certified end.

One round:

    choose a working set --the kernel between its members--> solve it by pair steps
                         --rows of those that moved--------> update the gradient of all coordinates

The set keeps the newest half of the last one and takes the rest from both ends of the gradient (the worst violators).
What is between a thousand members costs little; whole rows, which is what the time is made of, are asked for those
only that moved, in one batch of the kernel engine, float32 by default. The gradient is float64. Rows of few features
or stored entries are cheap: they are not kept, but added to the gradient tile by tile, where they are computed.

* Small problems are one working set: the classic method on a kernel matrix held in memory.
* Shrinking: coordinates at a bound whose gradient says they will stay are left out; kernel rows and gradient then
  shrink with them. When the rest is solved, the gradient of the others is reconstructed, from the coefficients that
  changed since, and the conditions are tested on all; whoever violates them comes back.
* `converged` means that the largest violation of the optimality conditions over *all* coordinates is at most `tol`.
* Where rounding leaves no step, the set is filled anew, then the gradient computed anew. Where steps are taken but
  for ten rounds neither the dual objective nor the violation gets better by more than rounding, the gradient is
  computed anew as well, and sets get smaller, down to pairs. If nothing helps, `advance` returns 0, and the run ends
  as "stalled".
"""

from cython.parallel cimport prange
from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

import numpy as np

from kernbench.losses.duality import balanced
from kernbench.losses.margin import margin_loss
from kernbench.problems.margin_problem import MarginProblem
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.dual_state import State

CLASSIC_ROWS = 2500     # up to here the whole problem is one working set
EXACT_ROWS = 1000       # up to here the last digits are free, and taken
EXACT_GOAL = 1e-11      # ... down to this violation
WORKING_SET_SIZE = 1024
LARGE_SET_SIZE = 1536   # ... where rows are so long that the kernel between members is little beside them:
LARGE_ROWS = 20_000     # from so many on
INNER_ACCURACY = 0.1    # a set is solved until its violation is this share of the global one
SHRINK_EVERY = 4        # rounds between two looks at what could be left out
SHRINK_SHARE = 0.3      # leave out only if at least this share goes
PATIENCE = 10           # looks (one a round) that may pass without progress, if they are
PATIENT_STEPS = 1000    # ... that many steps
CLASSIC_LOOK = 10       # steps per coordinate between two looks where the whole problem is one set
RENEWALS = 2            # times that its gradient is computed anew for want of progress
SMALLER = 4             # times smaller sets after that
NO_GAIN = {True: 1e-10, False: 1e-13}  # share of the dual objective that counts as rounding, by `single`
NO_PACE = 1e-16         # ... and share per step: a thousandth of it would take 10^13 steps
LESS = 0.9              # times the least violation so far is progress too
BATCH_ROWS = 64         # a cache of fewer rows than this is no help: steps go past it

cdef enum:
    STRETCH = 2048      # columns of the gradient that a thread updates at a time


cdef class SMO:
    """Kernel SVM by sequential minimal optimisation.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
        Weight of the norm, ``1 / (C n)``.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=True
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the margin (LIBSVM's ``tol``).
    random_state : ignored
        The method has no randomness.
    initial : Solution, optional
        Start from these coefficients, clipped to the box. ``initial.state["products"]``, where there are any, is taken
        for K times them.
    loss : {"hinge", "squared_hinge"}, default="hinge"
    working_set_size : int, optional
        1024 by default, from 20,000 rows on 1536.
    shrinking : bool, default=True
    classic_rows : int, default=2500
        Problems of at most this many rows are solved as one working set.

    References
    ----------
    Platt 1998; Joachims 1999; Fan, Chen, Lin, JMLR 6 (2005).
    """

    cdef public double tol
    cdef public Py_ssize_t least_set    # sets that bring nothing get smaller, but not smaller than this
    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef readonly double violation
    cdef readonly object problem
    cdef KernelRows rows
    cdef WorkingSet inner
    cdef Py_ssize_t set_size
    cdef bint classic, with_bias, shrinking, loaded
    cdef object active                  # coordinates in play, ascending; None means all
    cdef object dropped                 # list of (coordinates, coefficients when they were left out)
    cdef object everyone                # State of all coordinates
    cdef object state                   # State of those in play
    cdef readonly object members        # the last working set, oldest first
    cdef double dual                    # sum beta y - 1/2 beta' (K + R) beta, kept up round by round
    cdef readonly Py_ssize_t rounds
    cdef Py_ssize_t last_look, extra_steps, until_look, renewals
    cdef double best_dual, least_violation, highest_dual
    cdef Py_ssize_t idle_rounds, idle_steps  # since one of them became better
    cdef double last_objective
    cdef long long objective_at         # step at which it was computed
    cdef bint stuck                     # no progress any more, whatever was tried
    cdef bint exact                     # the gradient was computed anew since the last step
    cdef Py_ssize_t n_kept              # members that the last set took over from the one before

    losses = ("hinge", "squared_hinge")
    granularity = 1
    first_check = None

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", tol=1e-3, random_state=None,
                 initial=None, working_set_size=None, shrinking=True, classic_rows=CLASSIC_ROWS):
        if working_set_size is None:
            working_set_size = LARGE_SET_SIZE if len(y) >= LARGE_ROWS else WORKING_SET_SIZE
        if working_set_size < 2:
            raise ValueError(f"working_set_size must be at least 2, got {working_set_size!r}")
        if not tol > 0:
            raise ValueError(f"tol must be positive, got {tol!r}")
        loss = margin_loss(loss, offered=self.losses).name
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self.rows, self.tol, self.with_bias = rows, tol, fit_intercept
        n = self.problem.n
        self.everyone = self.state = state = State.of(self.problem, rows.diagonal())
        if initial is not None:
            state.beta = np.clip(np.asarray(initial.coef, dtype=np.float64), state.lower, state.upper)
            if fit_intercept:
                state.beta = balanced(state.beta)
            self.n_iter = initial.n_iter
            self._start_gradient(initial)
        self.dual = self._dual_now()
        self.active, self.dropped, self.members = None, [], np.empty(0, dtype=np.intp)
        self.classic = n <= classic_rows and rows.capacity >= n
        self.set_size = n if self.classic else min(n, working_set_size // 2 * 2)
        self.least_set = 2
        self.shrinking = shrinking and rows.can_restrict and not self.classic
        self.inner = WorkingSet(self.set_size, rows.single, fit_intercept, self.classic)
        self.extra_steps, self.objective_at, self.until_look = -1, -1, CLASSIC_LOOK * n
        self.best_dual, self.least_violation = self.dual, np.inf
        # The squared hinge bounds no coefficient: where the kernel is not positive semi-definite, the dual objective
        # may have no maximum. By weak duality it should stay below the primal one at f = 0.
        bounded = np.all(np.isfinite(state.upper)) and np.all(np.isfinite(state.lower))
        self.highest_dual = np.inf if bounded else 2.0 * self.problem.objective(np.zeros(n), 0.0, 0.0) / alpha

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps (a working set that was begun is finished); return how many."""
        done = 0
        self.objective_at = -1
        while done < n_iter and not self.converged and not self.stuck:
            steps = self._classic_round(n_iter - done) if self.classic else self._round()
            if steps == 0:
                break
            done += steps
            self.n_iter += steps
        return done

    cdef Py_ssize_t _classic_round(self, Py_ssize_t budget) except -1:
        """Pair steps on the whole problem, in memory."""
        cdef Py_ssize_t steps, n = self.problem.n
        if not self.loaded:
            self.inner.load(self.rows, np.arange(n, dtype=np.intp), self.state)
            self.loaded = True
        goal = self.tol
        if self.extra_steps >= 0:
            goal, budget = min(self.tol, EXACT_GOAL), min(budget, self.extra_steps)
        # How many steps are asked for is decided by the clock; looks come after a number of steps of their own.
        steps = self._solve(goal, min(budget, self.until_look))
        if self.stuck:
            self.violation = np.inf
            return 0
        self._take_over(np.asarray(self.inner.beta)[:n], np.asarray(self.inner.e)[:n])
        self.violation = self.inner.violation
        self.until_look -= steps
        if self.until_look == 0:
            self.until_look = CLASSIC_LOOK * n
            if self.violation > self.tol and self._is_stuck(self.until_look):
                if self.exact or self.renewals == RENEWALS:
                    self.stuck = True
                    return steps
                self._compute_gradient()
                self.loaded, self.exact = False, True
                self.renewals += 1
        if self.extra_steps >= 0:
            self.extra_steps -= steps
            self.converged = self.violation <= EXACT_GOAL or self.extra_steps == 0 or steps == 0
        elif self.violation <= self.tol:
            # As many steps again may be spent on digits beyond tol, so that small problems have one answer.
            self.extra_steps = max(1000, self.n_iter + steps) if n <= EXACT_ROWS else 0
            self.converged = self.extra_steps == 0
            return max(steps, 1)
        return steps

    cdef Py_ssize_t _solve(self, double goal, Py_ssize_t budget) except -1:
        """Steps inside the set. Where they lead beyond all bounds, 0, and the run ends before them."""
        cdef Py_ssize_t steps
        cdef double before = self.inner.dual_gain
        self.inner.most_gain = before + self.highest_dual - self.dual
        with nogil:
            steps = self.inner.solve(goal, budget)
        if not self.inner.dual_gain <= self.inner.most_gain:
            self.stuck = True
            return 0
        return steps

    def _take_over(self, beta, e):
        """Coefficients and gradient of the whole problem, and the dual objective that follows from them."""
        self.state.beta[:], self.state.e[:] = beta, e
        self.dual = self._dual_now()

    cdef bint _is_stuck(self, Py_ssize_t steps) except -1:
        """Whether for `PATIENCE` looks nothing became better by more than rounding; `steps` were taken since the last."""
        self.idle_rounds += 1
        self.idle_steps += steps
        # Rows that contradict each other may allow gains for ever, ever so small a step.
        rounding = max(NO_GAIN[bool(self.rows.single)], NO_PACE * self.idle_steps)
        gained = self.dual > self.best_dual + rounding * abs(self.dual)
        if gained or self.violation < LESS * self.least_violation:
            self.best_dual = max(self.best_dual, self.dual)
            self.least_violation = min(self.least_violation, self.violation)
            self.idle_rounds, self.idle_steps, self.exact = 0, 0, False
        if self.idle_rounds < PATIENCE or self.idle_steps < PATIENT_STEPS:
            return False
        self.idle_rounds, self.idle_steps = 0, 0
        return True

    cdef Py_ssize_t _round(self) except -1:
        """Choose a working set, solve it, update the gradient; test for the end first."""
        cdef Py_ssize_t steps
        while True:
            self._choose()
            if self.violation <= self.tol:
                if self.active is None:
                    self.converged = True
                    return 0
                self._restore()
                continue
            self.inner.load(self.rows, self.members, self.state)
            goal = max(0.5 * self.tol, INNER_ACCURACY * self.violation)
            steps = self._solve(goal, 100 * len(self.members))
            if steps:
                break
            if self.stuck or not self._freshen():
                return 0
        self.exact = False
        self._move()
        self.rounds += 1
        if self._is_stuck(steps):
            if self.set_size <= self.least_set:
                self.stuck = True
                return steps
            self.set_size = max(self.least_set, self.set_size // SMALLER // 2 * 2)
            self._start_anew()
        elif self.shrinking and self.rounds - self.last_look >= SHRINK_EVERY:
            self.last_look = self.rounds
            self._shrink()
        return steps

    def _choose(self):
        """The next working set: the newest half of the last one, and violators; `violation` is set on the way."""
        # What shrinking leaves of two sets is one: they would take turns for many rounds.
        size = self.set_size
        if self.active is not None and len(self.active) <= 2 * size:
            size = len(self.active)
        kept = self.members[len(self.members) // 2 :] if len(self.members) >= size else self.members
        kept = kept[: size // 2]
        self.n_kept = len(kept)
        self.members, self.violation = self.state.choose(size, kept, 0.5 * self.tol, self.with_bias)

    def _freshen(self):
        """No step was possible inside the set although the conditions are violated; return whether to try again.

        First the set is filled with violators alone. If that does not help, rounding has gathered in the gradient: it
        is computed anew, once, from the coefficients.
        """
        if self.n_kept:
            self.members = np.empty(0, dtype=np.intp)
            return True
        if self.exact:
            return False
        self._start_anew()
        return True

    def _start_anew(self):
        """All coordinates, their gradient computed from the coefficients, and no members kept."""
        self._forget_dropped()
        self._compute_gradient()
        self.best_dual = self.dual = self._dual_now()
        self.members = np.empty(0, dtype=np.intp)
        self.exact = True

    def _start_gradient(self, initial):
        """The gradient at the start: where K times its coefficients is known, only what had to be changed is computed."""
        state, products = self.everyone, initial.state.get("products")
        steps = state.beta - initial.coef
        changed = np.flatnonzero(np.abs(steps) > state.grain)
        if products is None or 2 * len(changed) > np.count_nonzero(state.beta):
            self._compute_gradient()
            return
        products = products + self.rows.product(np.arange(self.problem.n), changed, steps[changed])
        state.e[:] = self.problem.y - products - state.ridge * state.beta

    def _compute_gradient(self):
        """The gradient of all coordinates from their coefficients."""
        state = self.everyone
        used = np.flatnonzero(state.beta)
        products = self.rows.product(np.arange(self.problem.n), used, state.beta[used])
        state.e[:] = self.problem.y - products - state.ridge * state.beta

    def _dual_now(self):
        return 0.5 * float(self.everyone.beta @ (self.everyone.e + self.problem.y))

    def _move(self):
        """Write the set's coefficients back and update the gradient: e -= (K + R)[:, moved] (change of beta)."""
        state, members = self.state, self.members
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
        # What the quadratic dual objective gained in truth, whatever the set's own kernel values promised.
        if self.active is None:
            self.dual = self._dual_now()
        else:
            self.dual += 0.5 * float(changes @ (before + state.e[moved]))

    cdef int _add_rows(self, const Py_ssize_t[::1] moved, const double[::1] steps) except -1:
        """e += K[:, moved] steps, through the cache."""
        cdef:
            double[::1] e = self.state.e
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

    # --- shrinking -----------------------------------------------------------------------------------------------------

    def _shrink(self):
        settled = self.state.settled(self.with_bias)
        settled[self.members] = False
        if settled.sum() >= SHRINK_SHARE * len(settled):
            self._leave_out(settled)

    def _leave_out(self, settled):
        """Go on without the coordinates `settled` (a mask over those in play)."""
        active = np.arange(self.problem.n) if self.active is None else self.active
        self._write_back()
        self.dropped.append((active[settled], self.everyone.beta.copy()))
        keep = np.flatnonzero(~settled)
        position = np.full(len(settled), -1, dtype=np.intp)
        position[keep] = np.arange(len(keep))
        self.members = position[self.members]
        self.members = self.members[self.members >= 0]
        self.active = active[keep]
        self.rows.restrict(keep)
        self.state = self.everyone.take(self.active)

    def _write_back(self):
        if self.active is not None:
            self.everyone.beta[self.active] = self.state.beta
            self.everyone.e[self.active] = self.state.e

    def _restore(self):
        """Bring all coordinates back, with their gradient; then leave out again those that satisfy the conditions."""
        if self.active is None:
            return
        was_active = np.zeros(self.problem.n, dtype=bool)
        was_active[self.active] = True
        members = self.active[self.members]
        self.everyone.e[:] = self._full_gradient(count=True)
        self._forget_dropped()
        self.members = members
        self.violation, _, _ = self.state.violation(self.with_bias)
        if self.violation > self.tol:
            settled = self.state.settled(self.with_bias) & ~was_active
            if settled.sum() >= SHRINK_SHARE * len(settled):
                settled[self.members] = False
                self._leave_out(settled)

    def _forget_dropped(self):
        """All coordinates are in play again; the gradient of those that were not is for the caller to compute."""
        self._write_back()
        self.rows.release()
        self.active, self.dropped, self.state = None, [], self.everyone

    def _full_gradient(self, count):
        """The gradient of all coordinates; of those left out from the coefficients that changed since, or from
        nothing where that is less.

        Who is left out stays where it is, so the ridge has no part in changes.
        """
        self._write_back()
        beta, e = self.everyone.beta, self.everyone.e.copy()
        start = self.problem.y - self.everyone.ridge * beta
        used = np.flatnonzero(beta)
        for coordinates, then in self.dropped:
            changed = np.flatnonzero(beta != then)
            if len(used) < len(changed):
                e[coordinates] = start[coordinates] - self.rows.product(coordinates, used, beta[used], count=count)
            else:
                e[coordinates] -= self.rows.product(coordinates, changed, (beta - then)[changed], count=count)
        return e

    # --- what it found -------------------------------------------------------------------------------------------------

    def check(self, tol):
        """The rule is watched by `advance`; return whether it holds (also while more digits are sought)."""
        self.converged = self.converged or (self.classic and self.loaded and self.violation <= tol)
        return self.converged

    def _intercept(self):
        return self.state.intercept() if self.with_bias else 0.0

    def solution(self):
        """Coefficients and intercept as of now; in the state K times the coefficients, if the gradient of all is known."""
        self._write_back()
        everyone, state = self.everyone, {}
        if self.active is None:
            state["products"] = self.problem.y - everyone.e - everyone.ridge * everyone.beta
        return Solution(everyone.beta.copy(), self._intercept(), self.n_iter, state)

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum that only grows; kept up at no cost."""
        return self.problem.alpha * self.dual

    def objective(self):
        """The primal objective; while coordinates are left out this costs their gradient."""
        if self.objective_at != self.n_iter:
            e, everyone = self._full_gradient(count=False), self.everyone
            scores = self.problem.y - e - everyone.ridge * everyone.beta
            self.last_objective = self.problem.objective(scores, float(everyone.beta @ scores), self._intercept())
            self.objective_at = self.n_iter
        return self.last_objective

    def gap(self):
        """Primal minus dual objective, a certified bound on the distance to the optimum."""
        return max(self.objective() - self.dual_objective(), 0.0)
