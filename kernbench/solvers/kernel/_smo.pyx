"""Sequential minimal optimisation with batched working sets, shrinking and a certified end.

One round:

    choose a working set --rows (one gemm)--> solve it by pair steps --> update the gradient of all coordinates

The set keeps the newest half of the last one and takes the rest from both ends of the gradient (the worst violators);
its rows come from one batch of the kernel engine, float32 by default; the gradient is float64. Rounds are few because
sets are large, and rows are touched little more than once per support vector, which is what the time is made of.

* Small problems are one working set: the classic method on a kernel matrix held in memory.
* Shrinking: coordinates at a bound whose gradient says they will stay are left out; kernel rows and gradient then
  shrink with them. When the rest is solved, the gradient of the others is reconstructed, from the coefficients that
  changed since, and the conditions are tested on all; whoever violates them comes back.
* `converged` means that the largest violation of the optimality conditions over *all* coordinates is at most `tol`.
"""

from cython.parallel cimport prange
from libc.stdlib cimport free

from kernbench.kernels._engine cimport allocate
from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel._working_set cimport WorkingSet

import numpy as np

from kernbench.losses.duality import balanced
from kernbench.losses.margin_problem import MarginProblem
from kernbench.solvers.base import Solution

CLASSIC_ROWS = 5000     # up to here the whole problem is one working set
EXACT_ROWS = 1000       # up to here the last digits are free, and taken
EXACT_GOAL = 1e-11      # ... down to this violation
WORKING_SET_SIZE = 512
INNER_ACCURACY = 0.1    # a set is solved until its violation is this share of the global one
SHRINK_EVERY = 4        # rounds between two looks at what could be left out
SHRINK_SHARE = 0.3      # leave out only if at least this share goes

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
        Start from these coefficients, clipped to the box.
    working_set_size : int, default=512
    shrinking : bool, default=True
    classic_rows : int, default=5000
        Problems of at most this many rows are solved as one working set.

    References
    ----------
    Platt 1998; Joachims 1999; Fan, Chen, Lin, JMLR 6 (2005).
    """

    cdef public double tol
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
    cdef object full                    # beta, e, lower, upper, diagonal of all coordinates
    cdef object beta, e, lower, upper, diagonal   # of those in play
    cdef readonly object members        # the last working set, oldest first
    cdef double dual                    # sum beta y - 1/2 beta' K beta, kept up step by step
    cdef readonly Py_ssize_t rounds
    cdef Py_ssize_t last_look, extra_steps
    cdef bint exact                     # the gradient was computed anew since the last step
    cdef Py_ssize_t n_kept              # members that the last set took over from the one before

    granularity = 1
    first_check = None

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, tol=1e-3, random_state=None, initial=None,
                 working_set_size=WORKING_SET_SIZE, shrinking=True, classic_rows=CLASSIC_ROWS):
        if working_set_size < 2:
            raise ValueError(f"working_set_size must be at least 2, got {working_set_size!r}")
        if not tol > 0:
            raise ValueError(f"tol must be positive, got {tol!r}")
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self.rows, self.tol, self.with_bias = rows, tol, fit_intercept
        n = self.problem.n
        lower, upper = self.problem.box()
        beta, e = np.zeros(n), self.problem.y.copy()
        if initial is not None:
            beta = np.clip(np.asarray(initial.coef, dtype=np.float64), lower, upper)
            if fit_intercept:
                beta = balanced(beta)
            used = np.flatnonzero(beta)
            e -= rows.product(np.arange(n), used, beta[used])
            self.n_iter = initial.n_iter
        self.dual = 0.5 * float(beta @ (e + self.problem.y))
        self.full = [beta, e, lower, upper, rows.diagonal()]
        self.beta, self.e, self.lower, self.upper, self.diagonal = self.full
        self.active, self.dropped, self.members = None, [], np.empty(0, dtype=np.intp)
        self.classic = n <= classic_rows and rows.capacity >= n
        self.set_size = n if self.classic else min(n, rows.capacity, working_set_size // 2 * 2)
        self.shrinking = shrinking and rows.can_restrict and not self.classic
        self.inner = WorkingSet(self.set_size, rows.single, fit_intercept, self.classic)
        self.extra_steps = -1

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    # --- the iteration -----------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Take at least one and about `n_iter` steps (a working set that was begun is finished); return how many."""
        done = 0
        while done < n_iter and not self.converged:
            steps = self._classic_round(n_iter - done) if self.classic else self._round()
            if steps == 0:
                break
            done += steps
        self.n_iter += done
        return done

    cdef Py_ssize_t _classic_round(self, Py_ssize_t budget) except -1:
        """Pair steps on the whole problem, in memory."""
        cdef Py_ssize_t steps, n = len(self.beta)
        if not self.loaded:
            self._load(np.arange(n, dtype=np.intp))
            self.loaded = True
        goal = self.tol
        if self.extra_steps >= 0:
            goal, budget = min(self.tol, EXACT_GOAL), min(budget, self.extra_steps)
        steps = self._solve(goal, budget)
        self.beta[:] = self.inner.beta[:n]
        self.e[:] = self.inner.e[:n]
        self.violation = self.inner.violation
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
        cdef Py_ssize_t steps
        cdef double before = self.inner.dual_gain
        with nogil:
            steps = self.inner.solve(goal, budget)
        self.dual += self.inner.dual_gain - before
        return steps

    cdef Py_ssize_t _round(self) except -1:
        """Choose a working set, solve it, update the gradient; test for the end first."""
        cdef Py_ssize_t steps
        while True:
            members = self._choose()
            if self.violation <= self.tol:
                if self.active is None:
                    self.converged = True
                    return 0
                self._restore()
                continue
            self._load(members)
            goal = max(0.5 * self.tol, INNER_ACCURACY * self.violation)
            steps = self._solve(goal, 100 * self.set_size)
            if steps:
                break
            if not self._freshen():
                return 0
        self.exact = False
        self._move(members)
        self.rounds += 1
        if self.shrinking and self.rounds - self.last_look >= SHRINK_EVERY:
            self.last_look = self.rounds
            self._shrink()
        return steps

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
        self._restore()
        used = np.flatnonzero(self.full[0])
        products = self.rows.product(np.arange(self.problem.n), used, self.full[0][used])
        self.full[1][:] = self.problem.y - products
        if self.active is not None:
            self.e = self.full[1][self.active]
        self.members = np.empty(0, dtype=np.intp)
        self.exact = True
        return True

    # --- the working set -----------------------------------------------------------------------------------------------

    def _choose(self):
        """The next working set (ascending); `violation` is set on the way."""
        beta, e = self.beta, self.e
        slack = 0.5 * self.tol  # what violates the conditions by less is not worth a kernel row
        can_grow, can_shrink = beta < self.upper, beta > self.lower
        if self.with_bias:
            top = e.max(where=can_grow, initial=-np.inf)
            bottom = e.min(where=can_shrink, initial=np.inf)
            self.violation = max(top - bottom, 0.0)
            sides = [np.flatnonzero(can_grow & (e > bottom + slack)), np.flatnonzero(can_shrink & (e < top - slack))]
            urgency = [e[sides[0]], -e[sides[1]]]
        else:
            wrong = (can_grow & (e > 0)) | (can_shrink & (e < 0))
            self.violation = np.abs(e).max(where=wrong, initial=0.0)
            side = np.flatnonzero(wrong & (np.abs(e) > slack))
            curvature = np.maximum(self.diagonal[side], 1e-12)
            step = np.clip(e[side] / curvature, (self.lower - beta)[side], (self.upper - beta)[side])
            # Half by what a step would gain, half by the violation, which is what has to go in the end.
            sides = [side, side]
            urgency = [step * (e[side] - 0.5 * step * curvature), np.abs(e[side])]
        kept = self.members[len(self.members) // 2 :] if len(self.members) >= self.set_size else self.members
        kept = kept[: self.set_size // 2]
        taken = np.zeros(len(beta), dtype=bool)
        taken[kept] = True
        self.n_kept = len(kept)
        fresh = []
        room = self.set_size - len(kept)
        for number, (side, need) in enumerate(zip(sides, urgency)):
            share = room // (len(sides) - number)
            free = ~taken[side]
            side, need = side[free], need[free]
            if len(side) > share:
                side = side[np.argpartition(-need, share - 1)[:share]]
            taken[side] = True
            room -= len(side)
            fresh.append(np.sort(side))
        self.members = np.concatenate([kept, *fresh])
        return self.members

    cdef int _load(self, const Py_ssize_t[::1] members) except -1:
        cdef:
            Py_ssize_t m = members.shape[0]
            void **pointers = <void **> allocate(m * sizeof(void *))
        try:
            if m:
                with nogil:
                    self.rows.fetch(&members[0], m, pointers)
            self.inner.load(self.rows, members, self.e, self.beta, self.lower, self.upper, self.diagonal, pointers)
        finally:
            free(pointers)
        return 0

    cdef int _move(self, const Py_ssize_t[::1] members) except -1:
        """Write the set's coefficients back and update the gradient: e -= K[:, moved] (beta_new - beta_old)."""
        cdef:
            double[::1] beta = self.beta, e = self.e
            Py_ssize_t n = beta.shape[0], m = members.shape[0], k, n_moved = 0, t
            Py_ssize_t n_tasks = (n + STRETCH - 1) // STRETCH
            double change
            bint single = self.rows.single
            double[::1] steps = np.empty(max(m, 1))
            Py_ssize_t[::1] moved = np.empty(max(m, 1), dtype=np.intp)
            void **pointers = <void **> allocate(m * sizeof(void *))
        for k in range(m):
            change = self.inner.beta[k] - beta[members[k]]
            if change != 0.0:
                moved[n_moved] = members[k]
                steps[n_moved] = -change
                n_moved += 1
            beta[members[k]] = self.inner.beta[k]
        try:
            if n_moved:
                with nogil:
                    self.rows.fetch(&moved[0], n_moved, pointers)
                    for t in prange(n_tasks, schedule="static", use_threads_if=n * n_moved > 200000):
                        if single:
                            add_rows_float(<float **> pointers, &steps[0], n_moved, t * STRETCH,
                                           min(n, (t + 1) * STRETCH), &e[0])
                        else:
                            add_rows_double(<double **> pointers, &steps[0], n_moved, t * STRETCH,
                                            min(n, (t + 1) * STRETCH), &e[0])
        finally:
            free(pointers)
        return 0

    # --- shrinking -----------------------------------------------------------------------------------------------------

    def _settled(self):
        """Coordinates at a bound whose gradient pushes them further against it than any violator pulls."""
        beta, e = self.beta, self.e
        at_upper, at_lower = beta >= self.upper, beta <= self.lower
        if self.with_bias:
            top = e.max(where=~at_upper, initial=-np.inf)
            bottom = e.min(where=~at_lower, initial=np.inf)
            return (at_upper & ~at_lower & (e > top)) | (at_lower & ~at_upper & (e < bottom)) | (at_lower & at_upper)
        return (at_upper & (e > 0)) | (at_lower & (e < 0))

    def _shrink(self):
        settled = self._settled()
        settled[self.members] = False
        if settled.sum() >= SHRINK_SHARE * len(settled):
            self._leave_out(settled)

    def _leave_out(self, settled):
        """Go on without the coordinates `settled` (a mask over those in play)."""
        active = np.arange(self.problem.n) if self.active is None else self.active
        self._write_back()
        self.dropped.append((active[settled], self.full[0].copy()))
        keep = np.flatnonzero(~settled)
        position = np.full(len(settled), -1, dtype=np.intp)
        position[keep] = np.arange(len(keep))
        self.members = position[self.members]
        self.members = self.members[self.members >= 0]
        self.active = active[keep]
        self.rows.restrict(keep)
        self.beta, self.e, self.lower, self.upper, self.diagonal = (values[self.active] for values in self.full)

    def _write_back(self):
        if self.active is not None:
            self.full[0][self.active] = self.beta
            self.full[1][self.active] = self.e

    def _restore(self):
        """Bring all coordinates back, with their gradient; then leave out again those that satisfy the conditions."""
        if self.active is None:
            return
        beta = self.full[0]
        self.full[1][:] = self._full_gradient(count=True)
        self.rows.release()
        was_active = np.zeros(len(beta), dtype=bool)
        was_active[self.active] = True
        self.members = self.active[self.members]
        self.active, self.dropped = None, []
        self.beta, self.e, self.lower, self.upper, self.diagonal = self.full
        self._choose_nothing()
        if self.violation > self.tol:
            settled = self._settled() & ~was_active
            if settled.sum() >= SHRINK_SHARE * len(settled):
                settled[self.members] = False
                self._leave_out(settled)

    def _full_gradient(self, count):
        """The gradient of all coordinates; of those left out from the coefficients that changed since."""
        self._write_back()
        beta, e = self.full[0], self.full[1].copy()
        for coordinates, then in self.dropped:
            changed = np.flatnonzero(beta != then)
            e[coordinates] -= self.rows.product(coordinates, changed, (beta - then)[changed], count=count)
        return e

    def _choose_nothing(self):
        """Set `violation` without disturbing the working set."""
        members = self.members
        self._choose()
        self.members = members

    # --- what it found -------------------------------------------------------------------------------------------------

    def check(self, tol):
        """The rule is watched by `advance`; return whether it holds (also while more digits are sought)."""
        self.converged = self.converged or (self.classic and self.loaded and self.violation <= tol)
        return self.converged

    def _intercept(self):
        """Mean of e over the coordinates strictly inside the box, else the middle of the admissible interval."""
        if not self.with_bias:
            return 0.0
        free = (self.beta > self.lower) & (self.beta < self.upper)
        if np.any(free):
            return float(self.e[free].mean())
        top = self.e.max(where=self.beta < self.upper, initial=-np.inf)
        bottom = self.e.min(where=self.beta > self.lower, initial=np.inf)
        return float(0.5 * (top + bottom)) if np.isfinite(top + bottom) else 0.0

    def solution(self):
        """Coefficients and intercept as of now."""
        self._write_back()
        return Solution(self.full[0].copy(), self._intercept(), self.n_iter)

    def dual_objective(self):
        """alpha times the dual objective, a lower bound of the optimum that only grows; kept up at no cost."""
        return self.problem.alpha * self.dual

    def objective(self):
        """The primal objective; while coordinates are left out this costs their gradient."""
        scores = self.problem.y - self._full_gradient(count=False)
        return self.problem.objective(scores, float(self.full[0] @ scores), self._intercept())

    def gap(self):
        """Primal minus dual objective, a certified bound on the distance to the optimum."""
        return max(self.objective() - self.dual_objective(), 0.0)
