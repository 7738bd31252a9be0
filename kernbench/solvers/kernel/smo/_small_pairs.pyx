"""SMO for many small problems at once: all pairs of classes, with kernel values from one matrix in memory.

A problem of a few rows takes microseconds, a solver object with its driver a millisecond. Here the kernel rows of more
than two classes are computed once; the block of each pair of classes is copied from them, and the problem is solved by
the pair steps of :class:`~kernbench.solvers.kernel.smo._working_set.WorkingSet`, as `SMO` solves a problem that is one
working set: down to `tol`, then, if it is small, for as many steps again to gain further digits. Two classes use the
rows themselves, on demand if one class is rare. It is a loop around that compiled solver, so its reference is the twin
of `SMO`.

Only for the hinge loss. A pair that does not converge normally (too many steps, a large gap of a small pair) ends the
loop: `SMO` handles such problems. A larger pair goes on to a smaller violation until its gap is small, as in `SMO`.

Each step updates the gradient, and adds rounding errors to it. Where these are not small against the tolerance, the
gradient is computed afresh from the coefficients and the kernel values in memory before the objectives are.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, fabs

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

from time import perf_counter

import numpy as np

from kernbench.solvers.kernel.smo import _smo
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

cdef double EXACT_GOAL = _smo.EXACT_GOAL  # violation to which a single pair is continued, as in `SMO`
cdef Py_ssize_t EXACT_ROWS = _smo.EXACT_ROWS  # ... up to this size
cdef double FINE_GOAL = 1e-7        # ... and each of several pairs, for which 1e-11 would take a third of the time
cdef double LEAST_CHANGE = SAME_BETA
cdef Py_ssize_t STEPS_PER_ROW = 100  # after which a pair is given up
cdef Py_ssize_t LEAST_STEPS = 1000
cdef double NEGLIGIBLE = 0.01        # share of the tolerance that rounding errors of updates may be

ctypedef fused real:
    float
    double


cdef class SmallPairs:
    """All pairs of classes, one against one.

    Parameters
    ----------
    rows : KernelRows
        With room for all rows in the cache.
    codes : ndarray of shape (n,), intp
        Index of the class of each row; every class occurs.
    n_classes : int
    costs : ndarray of shape (n,)
        C times the weight of each row, > 0: the bound of its coefficient.
    C : float
    fit_intercept : bool
    tol : float
        Largest violation of the optimality conditions.

    Attributes
    ----------
    n_done : int
        Pairs solved so far, in the order (0, 1), (0, 2), ..., (1, 2), ...
    dual_coef : ndarray of shape (n_classes - 1, n)
        In the layout of :mod:`kernbench.estimators.svm.multiclass`, with the later class of a pair positive.
    intercept, objective, gap, dual, seconds : ndarray of shape (n_pairs,)
        Primal objective, certified gap, dual objective; time since the first pair was begun. NaN where not solved.
    n_iter : ndarray of shape (n_pairs,)
    n_terms : ndarray of shape (n_pairs,)
        Terms of the sums in the gradient from which the objectives were computed: a coefficient that is not 0, or an
        update since it was last computed afresh.
    at_zero : ndarray of shape (n_pairs,)
        Objective of f = 0 with the best intercept.
    sensitivity : ndarray of shape (n_pairs,)
        Bound on the error of an objective and of the dual bound together, for sums of kernel values with an error of 1
        relative to the sum of their magnitudes; see `problems.certificate.rounding`.
    """

    cdef readonly Py_ssize_t n_done
    cdef readonly object dual_coef, intercept, objective, gap, dual, seconds, n_iter, n_terms, at_zero, sensitivity
    cdef readonly KernelRows kernel
    cdef readonly double largest        # k(x, x)
    cdef object addresses
    cdef void **pointers                # to the rows of the kernel, of more than two classes
    cdef const Py_ssize_t[::1] members, starts
    cdef const double[::1] diagonal, costs
    cdef double C, tol, goal
    cdef const Py_ssize_t[::1] all
    cdef bint with_bias
    cdef Py_ssize_t n_classes
    cdef WorkingSet inner
    cdef Py_ssize_t[::1] rows           # of the current pair, ascending

    def __init__(self, KernelRows rows, codes, n_classes, costs, *, C, fit_intercept, tol):
        cdef Py_ssize_t n_pairs = n_classes * (n_classes - 1) // 2, largest, k
        self.kernel, self.diagonal, self.costs, self.n_classes = rows, rows.diagonal(), costs, n_classes
        for k in range(len(codes)):
            self.largest = max(self.largest, self.diagonal[k])
        largest = self._sort(codes)
        self.all = np.arange(len(codes), dtype=np.intp)
        self.C, self.tol, self.with_bias = C, tol, fit_intercept
        self.goal = min(tol, EXACT_GOAL if n_classes == 2 else FINE_GOAL)
        if n_classes > 2:
            self.addresses = np.zeros(len(codes), dtype=np.uintp)
            self.pointers = <void **> <size_t> self.addresses.ctypes.data
            rows.fetch(&self.all[0], len(codes), self.pointers)
        self.inner = WorkingSet(largest, rows.single, fit_intercept, n_classes == 2, True)
        self.rows = np.empty(largest, dtype=np.intp)
        self.dual_coef = np.zeros((n_classes - 1, len(codes)))
        self.intercept = np.zeros(n_pairs)
        self.n_iter, self.n_terms = np.zeros((2, n_pairs), dtype=np.int64)
        (self.objective, self.gap, self.dual, self.seconds, self.at_zero,
         self.sensitivity) = np.full((6, n_pairs), np.nan)

    cdef Py_ssize_t _sort(self, const Py_ssize_t[::1] codes) except -1:
        """List the rows of each class, ascending; return the number of rows of the largest pair."""
        cdef:
            Py_ssize_t n = codes.shape[0], i, k, most = 0, second = 0, size
            Py_ssize_t[::1] members = np.empty(n, dtype=np.intp), ends = np.zeros(self.n_classes + 1, dtype=np.intp)
        for i in range(n):
            ends[codes[i] + 1] += 1
        for k in range(self.n_classes):
            size = ends[k + 1]
            if size > most:
                most, second = size, most
            elif size > second:
                second = size
        starts = np.cumsum(ends)
        ends = starts.copy()
        for i in range(n):
            members[ends[codes[i]]] = i
            ends[codes[i]] += 1
        self.members, self.starts = members, starts
        return most + second

    def run(self):
        """Solve the pairs in turn; return whether all were solved. Ctrl-C raises KeyboardInterrupt between two pairs."""
        cdef:
            double[:, ::1] dual_coef = self.dual_coef
            double[::1] intercept = self.intercept, objective = self.objective, gap = self.gap, dual = self.dual
            double[::1] seconds = self.seconds, at_zero = self.at_zero, sensitivity = self.sensitivity
            long long[::1] n_iter = self.n_iter
            long long[::1] n_terms = self.n_terms
            Py_ssize_t first, second, k, q, steps, done, size, limit, updates
            double goal
            double *beta = &self.inner.beta[0]
            double begun = perf_counter()
        for first in range(self.n_classes):
            for second in range(first + 1, self.n_classes):
                PyErr_CheckSignals()
                k = self.n_done
                size = self._load(first, second)
                limit, goal, steps, updates = STEPS_PER_ROW * size + LEAST_STEPS, self.tol, 0, 0
                while True:
                    with nogil:
                        done = self._solve(size, goal, limit - steps)
                    if done < 0:
                        return False
                    steps += done
                    updates += 2 * done
                    self._measure(&intercept[k], &objective[k], &dual[k])
                    n_terms[k] = self._bound(&at_zero[k], &sensitivity[k])
                    if sensitivity[k] * updates * DBL_EPSILON > NEGLIGIBLE * self.tol * objective[k]:
                        self._compute_gradient()
                        updates = 0
                        self._measure(&intercept[k], &objective[k], &dual[k])
                    n_terms[k] += updates
                    gap[k] = max(objective[k] - dual[k], 0.0)
                    if gap[k] <= self.tol * objective[k]:
                        break
                    if size <= EXACT_ROWS:
                        return False
                    goal = 0.1 * min(goal, self.inner.violation)
                n_iter[k] = steps
                for q in range(size):  # row second - 1 for the rows of the first class, row first for the others
                    dual_coef[second - 1 if self.inner.lower[q] < 0.0 else first, self.rows[q]] = beta[q]
                seconds[k] = perf_counter() - begun
                self.n_done += 1
        return True

    cdef Py_ssize_t _load(self, Py_ssize_t first, Py_ssize_t second) except -1:
        """Select the rows of two classes, in order, with their block of the kernel; return their number."""
        cdef:
            WorkingSet inner = self.inner
            const Py_ssize_t *members = &self.members[0]
            const Py_ssize_t *starts = &self.starts[0]
            Py_ssize_t a = starts[first], b = starts[second], k = 0, i
            Py_ssize_t a_end = starts[first + 1], b_end = starts[second + 1]
            double y, cost
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and members[a] < members[b]):
                i, y, a = members[a], -1.0, a + 1
            else:
                i, y, b = members[b], 1.0, b + 1
            cost = self.costs[i]
            self.rows[k] = i
            inner.beta[k], inner.e[k], inner.diagonal[k], inner.ridge[k] = 0.0, y, self.diagonal[i], 0.0
            inner.lower[k], inner.upper[k] = min(0.0, y * cost), max(0.0, y * cost)
            inner.least_change[k] = LEAST_CHANGE * cost
            inner._mark(k)
            k += 1
        inner.size, inner.padded = k, (k + KB_PAD - 1) // KB_PAD * KB_PAD
        inner.dual_gain, inner.most_gain = 0.0, INFINITY
        inner._pad()
        inner.begin()
        if inner.whole:
            inner._take_rows(self.kernel, self.all)
        elif inner.single:
            _take_block[float](inner, <const float **> self.pointers, &self.rows[0])
        else:
            _take_block[double](inner, <const double **> self.pointers, &self.rows[0])
        return k

    cdef Py_ssize_t _solve(self, Py_ssize_t size, double goal, Py_ssize_t limit) except -2 nogil:
        """Do pair steps to `goal`, in small pairs as many again for further digits; return their number, -1 if `goal`
        is not reached."""
        cdef Py_ssize_t steps
        steps = max(<Py_ssize_t> 1, self.inner.solve(goal, limit))
        if not self.inner.violation <= goal:
            return -1
        if size > EXACT_ROWS:
            return steps
        steps += self.inner.solve(self.goal, max(LEAST_STEPS, steps))
        return steps if self.inner.violation <= goal else -1

    cdef Py_ssize_t _bound(self, double *at_zero, double *sensitivity) noexcept:
        """Compute the objective at f = 0, and how far errors of sums of kernel values may move objectives; return the
        number of terms of these sums.

        The norm's share of the error is at most that of the losses, since no coefficient exceeds its cost.
        """
        cdef double size = 0.0, highest = 0.0, above = 0.0, below = 0.0
        cdef Py_ssize_t q, n_terms = 0
        for q in range(self.inner.size):
            n_terms += self.inner.beta[q] != 0.0
            size += fabs(self.inner.beta[q])
            above += self.inner.upper[q]
            below -= self.inner.lower[q]
            highest = max(highest, max(self.inner.upper[q], -self.inner.lower[q]))
        at_zero[0] = (2.0 * min(above, below) if self.with_bias else above + below) / (self.C * self.inner.size)
        sensitivity[0] = 2.0 * highest / self.C * size * self.largest
        return n_terms

    cdef int _compute_gradient(self) except -1:
        """e = y - K beta, by the rows of the kernel in memory: all that a step has used."""
        cdef:
            WorkingSet inner = self.inner
            Py_ssize_t q, m = 0, size = inner.size
            size_t[::1] used = np.empty(size, dtype=np.uintp)
            double[::1] weights = np.empty(size)
        for q in range(size):
            inner.e[q] = -1.0 if inner.lower[q] < 0.0 else 1.0
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
            double total = 0.0, top = -INFINITY, bottom = INFINITY, norm = 0.0, loss = 0.0, linear = 0.0, y, b = 0.0
            Py_ssize_t q, n_free = 0, size = self.inner.size
            bint grows, shrinks
        for q in range(size):
            grows, shrinks = beta[q] < self.inner.upper[q], beta[q] > self.inner.lower[q]
            if grows and shrinks:
                total += e[q]
                n_free += 1
            if grows:
                top = max(top, e[q])
            if shrinks:
                bottom = min(bottom, e[q])
        if self.with_bias:
            b = total / n_free if n_free else 0.5 * (top + bottom)
        for q in range(size):
            y = -1.0 if self.inner.lower[q] < 0.0 else 1.0
            norm += beta[q] * (y - e[q])
            linear += beta[q] * (e[q] + y)
            loss += self.costs[self.rows[q]] * max(0.0, 1.0 - y * (y - e[q] + b))
        intercept[0] = b
        objective[0] = (0.5 * norm + loss) / (self.C * size)
        dual[0] = 0.5 * linear / (self.C * size)
        return 0


cdef void _take_block(WorkingSet inner, const real **kernel, const Py_ssize_t *rows) noexcept nogil:
    """Copy the kernel between `rows`."""
    cdef:
        Py_ssize_t q, r, size = inner.size
        const real *source
        real *target
    for q in range(size):
        source = kernel[rows[q]]
        target = <real *> inner.block + q * inner.padded
        for r in range(size):
            target[r] = source[rows[r]]
        inner.kernel[q] = target
