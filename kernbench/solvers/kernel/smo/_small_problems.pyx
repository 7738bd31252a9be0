"""SMO for small problems in memory: all pairs of classes, or one regression, without a solver object and its driver.

A problem of a few rows takes microseconds, a solver object with its driver a millisecond. A problem is loaded into a
:class:`~kernbench.solvers.kernel.smo._working_set.WorkingSet` and solved by its steps, as `SMO` solves a problem that
is one working set: down to `tol`, then, if it is small, for as many steps again to gain further digits. It is a loop
around that compiled solver, so its reference is the twin of `SMO`.

The loss may have no ridge (`dual_state`). With the box [l_i, u_i] of each coefficient, e = p - f and the sum m of the
coefficients, any such objective is, in units of 1/alpha,

    1/2 ||f||^2 + sum_i (u_i max(0, e_i - b - zone) - l_i max(0, b - e_i - zone)) + m b.

A problem that does not converge normally (too many steps, or a large gap although it is small) ends the loop: `SMO`
handles such problems. A larger problem is continued to smaller violations until its gap is small, as in `SMO`.

Each step updates the gradient, and adds rounding errors to it. If these are not small compared with the tolerance, the
gradient is recomputed from the coefficients and the kernel values in memory before the objectives are computed.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

from time import perf_counter

import numpy as np

from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo import one_set
from kernbench.solvers.kernel.smo.dual_state import State

EXACT_GOAL = one_set.EXACT_GOAL        # violation to which a single problem is continued, as in `SMO`
cdef Py_ssize_t EXACT_ROWS = one_set.EXACT_ROWS  # ... up to this size
cdef Py_ssize_t STEPS_PER_ROW = 1000  # then a problem is left to `SMO`: half of those after which it extrapolates
cdef double MOST_WORK = 6e8         # ... or steps times rows, a fraction of a second: only the driver checks for Ctrl-C
cdef Py_ssize_t LEAST_STEPS = 1000
cdef double NEGLIGIBLE = 0.01        # share of the tolerance up to which rounding errors of updates are negligible


cdef class SmallProblems:
    """Base class: problems on the same kernel rows, solved one after the other; subclasses load them.

    Attributes
    ----------
    n_done : int
        Problems solved so far.
    dual_coef : ndarray of shape (n_vectors, n)
    intercept, objective, gap, dual, start, seconds : ndarray of shape (n_problems,)
        Primal objective, certified gap, dual objective and that of the start; time since the first problem was begun.
        NaN where not solved.
    n_iter : ndarray of shape (n_problems,)
    n_terms : ndarray of shape (n_problems,)
        Terms of the sums in the gradient from which the objectives were computed: a coefficient that is not 0, or an
        update since it was last computed afresh.
    at_zero : ndarray of shape (n_problems,)
        Objective of f = 0 with the best intercept.
    sensitivity : ndarray of shape (n_problems,)
        Bound on the error of an objective and of the dual bound together, for sums of kernel values with an error of 1
        relative to the sum of their magnitudes; see `problems.certificate.rounding`.
    """

    cdef int _begin(self, KernelRows rows, Py_ssize_t n_problems, Py_ssize_t largest, double tol, double goal,
                    bint with_bias, bint whole, double zone, str constraint="sum") except -1:
        cdef Py_ssize_t k, n = rows.n_rows
        self.kernel, self.diagonal = rows, rows.diagonal()
        for k in range(n):
            self.largest = max(self.largest, self.diagonal[k])
        self.all = np.arange(n, dtype=np.intp)
        self.tol, self.goal, self.with_bias, self.unit, self.zone = tol, min(tol, goal), with_bias, 1.0, zone
        self.inner = WorkingSet(largest, rows.single, with_bias, whole, True, zone, constraint)
        self.linear = np.empty(largest)
        self.n_iter, self.n_terms = np.zeros((2, n_problems), dtype=np.int64)
        self.intercept = np.zeros(n_problems)
        (self.objective, self.gap, self.dual, self.start, self.seconds, self.at_zero,
         self.sensitivity) = np.full((7, n_problems), np.nan)
        return 0

    cdef int _load(self, Py_ssize_t k) except -1:
        """Load problem k: its coordinates, `linear`, `alpha`, `total`, and what is known of its start."""
        raise NotImplementedError

    cdef int _keep(self, Py_ssize_t k) except -1:
        """Copy the coefficients of problem k to `dual_coef`."""
        raise NotImplementedError

    def run(self):
        """Solve the problems in turn; return whether all were solved. Ctrl-C raises KeyboardInterrupt between two."""
        cdef:
            double[::1] intercept = self.intercept, objective = self.objective, gap = self.gap, dual = self.dual
            double[::1] seconds = self.seconds, sensitivity = self.sensitivity
            long long[::1] n_iter = self.n_iter
            long long[::1] n_terms = self.n_terms
            Py_ssize_t k, steps, done, size, limit, updates
            double goal
            double begun = perf_counter()
        for k in range(len(self.intercept)):
            PyErr_CheckSignals()
            self._load(k)
            size = self.inner.size
            limit = LEAST_STEPS + min(STEPS_PER_ROW * size, <Py_ssize_t> (MOST_WORK / size))
            goal, steps, updates = self.tol * self.unit, 0, 0
            while True:
                with nogil:
                    done = self._solve(size, goal, limit - steps)
                if done < 0:
                    return False
                steps += done
                updates += 2 * done
                self._measure(&intercept[k], &objective[k], &dual[k])
                n_terms[k] = self._bound(&sensitivity[k])
                if sensitivity[k] * updates * DBL_EPSILON > NEGLIGIBLE * self.tol * fabs(objective[k]):
                    self._compute_gradient()
                    updates = 0
                    self._measure(&intercept[k], &objective[k], &dual[k])
                n_terms[k] += updates
                gap[k] = max(objective[k] - dual[k], 0.0)
                if gap[k] <= self.tol * fabs(objective[k]):
                    break
                # Without a violation the gap is a rounding error (as for equal rows with nu): no step would reduce it.
                if size <= EXACT_ROWS or self.inner.violation == 0.0:
                    return False
                goal = 0.1 * min(goal, self.inner.violation)
            n_iter[k] = steps
            self._keep(k)
            seconds[k] = perf_counter() - begun
            self.n_done += 1
        return True

    def is_certified(self, double unit, double extra, double share):
        """Whether gaps, rounding included, are at most `tol` times the objectives, and these at most those of f = 0.

        If so, rounding is added to the gaps.

        Parameters
        ----------
        unit : float
            Error of a kernel value, relative to the largest.
        extra : float
            Error of objectives for other reasons.
        share : float
            Share of the tolerance that rounding may take.
        """
        cdef:
            double[::1] gap = self.gap, objective = self.objective, at_zero = self.at_zero
            double[::1] sensitivity = self.sensitivity
            long long[::1] n_terms = self.n_terms
            double error, allowed
            Py_ssize_t k
        for k in range(gap.shape[0]):
            error = sensitivity[k] * (unit + DBL_EPSILON * n_terms[k]) + extra
            allowed = self.tol * fabs(objective[k])
            if not (gap[k] + error <= allowed and error <= share * allowed and objective[k] <= at_zero[k]):
                return False
        for k in range(gap.shape[0]):
            gap[k] += sensitivity[k] * (unit + DBL_EPSILON * n_terms[k]) + extra
        return True

    cdef Py_ssize_t _solve(self, Py_ssize_t size, double goal, Py_ssize_t limit) except -2 nogil:
        """Do steps until the violation is at most `goal`, and in small problems as many again for further digits.

        Return their number, or -1 if `goal` is not reached.
        """
        cdef Py_ssize_t steps
        steps = self.inner.solve(goal, limit)
        if not self.inner.violation <= goal:
            return -1
        if size > EXACT_ROWS:
            return steps
        steps = max(<Py_ssize_t> 1, steps)
        steps += self.inner.solve(self.goal * self.unit, max(LEAST_STEPS, steps))
        return steps if self.inner.violation <= goal else -1

    cdef Py_ssize_t _bound(self, double *sensitivity) noexcept:
        """Compute by how much errors in sums of kernel values may change objectives.

        Return the number of terms in these sums.

        The norm's share of the error is at most that of the losses, since no coefficient exceeds its bound.
        """
        cdef double size = 0.0, highest = 0.0, longest = 0.0
        cdef Py_ssize_t q, n_terms = 0
        for q in range(self.inner.size):
            n_terms += self.inner.beta[q] != 0.0
            size += fabs(self.inner.beta[q])
            longest = max(longest, fabs(self.linear[q]))
            highest = max(highest, max(self.inner.upper[q], -self.inner.lower[q]))
        sensitivity[0] = 2.0 * highest * self.alpha * self.inner.size * (size * self.largest + longest)
        return n_terms

    cdef int _compute_gradient(self) except -1:
        """e = p - K beta, by the rows of the kernel: in memory, where a step has used them."""
        cdef:
            WorkingSet inner = self.inner
            Py_ssize_t q, m = 0, n_missing = 0, size = inner.size
            size_t[::1] used = np.empty(size + 1, dtype=np.uintp), found = np.empty(size + 1, dtype=np.uintp)
            Py_ssize_t[::1] missing = np.empty(size + 1, dtype=np.intp)
            double[::1] weights = np.empty(size + 1)
        for q in range(size):
            if inner.beta[q] != 0.0 and inner.kernel[q] == NULL:
                missing[n_missing] = q
                n_missing += 1
        if n_missing:  # of a problem whose rows are computed on demand: compute them all at once
            self.kernel.fetch(&missing[0], n_missing, <void **> &found[0])
            inner.n_held += n_missing
            for q in range(n_missing):
                inner.kernel[missing[q]] = <void *> found[q]
        for q in range(size):
            inner.e[q] = self.linear[q]
            if inner.beta[q] != 0.0:
                used[m], weights[m] = <size_t> inner.kernel[q], -inner.beta[q]
                m += 1
        if inner.single:
            add_rows_float(<float **> &used[0], &weights[0], m, 0, size, &inner.e[0])
        else:
            add_rows_double(<double **> &used[0], &weights[0], m, 0, size, &inner.e[0])
        return 0

    cdef int _measure(self, double *intercept, double *objective, double *dual) except -1:
        """Compute the intercept, as `State.intercept` does, and the two objectives."""
        cdef:
            double *beta = &self.inner.beta[0]
            double *e = &self.inner.e[0]
            double total = 0.0, top = -INFINITY, bottom = INFINITY, norm = 0.0, loss = 0.0, linear = 0.0, kinks = 0.0
            double b = 0.0, grow, shrink, zone = self.zone
            Py_ssize_t q, n_free = 0, size = self.inner.size
            bint grows, shrinks
        for q in range(size):
            grows, shrinks = beta[q] < self.inner.upper[q], beta[q] > self.inner.lower[q]
            grow = e[q] - (zone if beta[q] >= 0.0 else -zone)
            shrink = e[q] - (zone if beta[q] > 0.0 else -zone)
            if grows and shrinks and (zone == 0.0 or beta[q] != 0.0):
                total += grow
                n_free += 1
            if grows:
                top = max(top, grow)
            if shrinks:
                bottom = min(bottom, shrink)
        if self.with_bias and n_free:
            b = total / n_free
        elif self.with_bias:  # one of the two is infinite if no coefficient can grow, or none shrink
            b = top if bottom == INFINITY else bottom if top == -INFINITY else 0.5 * (top + bottom)
        for q in range(size):
            norm += beta[q] * (self.linear[q] - e[q])
            linear += beta[q] * (e[q] + self.linear[q])
            kinks += fabs(beta[q])
            loss += (self.inner.upper[q] * max(0.0, e[q] - b - zone)
                     - self.inner.lower[q] * max(0.0, b - e[q] - zone))
        intercept[0] = b
        objective[0] = self.alpha * (0.5 * norm + loss + self.total * b)
        dual[0] = self.alpha * (0.5 * linear - zone * kinks)
        return 0


cdef class SmallProblem(SmallProblems):
    """One problem of all rows, of a loss without a ridge.

    Parameters
    ----------
    rows : KernelRows
        With room for all rows in the cache.
    problem : MarginProblem
    tol : float
    """

    cdef object problem
    cdef object state                   # of dual_state, with a share nu: its coefficients and gradient are copies
    cdef double level                   # ... and its rho or eps, of the last `_measure`

    def __init__(self, KernelRows rows, problem, *, tol):
        n = problem.n
        self._begin(rows, 1, n, tol, EXACT_GOAL, problem.fit_intercept, True, problem.loss.zone, problem.constraint)
        self.problem, self.dual_coef = problem, np.zeros((1, n))

    def solution(self):
        """Return the coefficients and the intercept, and with a share nu rho or eps; zeros before the run."""
        state = {}
        if self.n_done and self.problem.constraint != "sum":
            state["level"] = np.array([self.level])
        return Solution(self.dual_coef[0], float(self.intercept[0]), state=state)

    cdef int _load(self, Py_ssize_t k) except -1:
        problem = self.problem
        state, start = State.of(problem, np.asarray(self.diagonal)), problem.start()
        if start is not None:
            state.beta = start
        self.linear, self.alpha, self.total = state.linear, problem.alpha, state.beta.sum()
        self.unit, (self.at_zero[k], _) = problem.unit(), problem.at_zero
        self.inner.load(self.kernel, self.all, state)
        self.state = state
        if start is not None:
            self._compute_gradient()
        self.start[k] = self._dual()
        return 0

    cdef int _measure(self, double *intercept, double *objective, double *dual) except -1:
        """Compute the intercept and the two objectives; with nu also rho or eps.

        With nu the losses of examples are not independent, so the objective is computed by the problem itself.
        """
        if self.problem.constraint == "sum":
            return SmallProblems._measure(self, intercept, objective, dual)
        dual[0] = self._dual()
        state, problem = self.state, self.problem
        scores, (intercept[0], self.level) = state.scores(), state.intercept_and_level()
        objective[0] = problem.objective(scores, state.beta @ scores, intercept[0])
        return 0

    def _dual(self):
        """Copy coefficients and gradient to `state`; return their dual objective."""
        size = self.inner.size
        self.state.beta[:], self.state.e[:] = self.inner.beta[:size], self.inner.e[:size]
        return self.alpha * self.state.dual()

    cdef int _keep(self, Py_ssize_t k) except -1:
        self.dual_coef[0] = np.asarray(self.inner.beta)[: self.inner.size]
        return 0
