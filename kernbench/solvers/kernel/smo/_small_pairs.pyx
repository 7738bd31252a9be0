"""SMO for many small problems at once: all pairs of classes, with kernel values from one matrix in memory.

A problem of a few rows takes microseconds, a solver object with its driver a millisecond. Here the kernel rows of more
than two classes are computed once; the block of each pair of classes is copied from them, and the problem is solved by
the pair steps of :class:`~kernbench.solvers.kernel.smo._working_set.WorkingSet`, as `SMO` solves a problem that is one
working set: down to `tol`, then, if it is small, for as many steps again to gain further digits. Two classes use the
rows themselves, on demand if one class is rare. It is a loop around that compiled solver, so its reference is the twin
of `SMO`.

Only for the hinge loss. A pair that does not converge normally (too many steps, a large gap of a small pair) ends the
loop: `SMO` handles such problems. A larger pair goes on to a smaller violation until its gap is small, as in `SMO`.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

from time import perf_counter

import numpy as np

from kernbench.solvers.kernel.smo import _smo
from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

cdef double EXACT_GOAL = _smo.EXACT_GOAL  # violation to which a single pair is continued, as in `SMO`
cdef Py_ssize_t EXACT_ROWS = _smo.EXACT_ROWS  # ... up to this size
cdef double FINE_GOAL = 1e-7        # ... and each of several pairs, for which 1e-11 would take a third of the time
cdef double GRAIN = SAME_BETA
cdef Py_ssize_t STEPS_PER_ROW = 100  # after which a pair is given up
cdef Py_ssize_t LEAST_STEPS = 1000

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
    """

    cdef readonly Py_ssize_t n_done
    cdef readonly object dual_coef, intercept, objective, gap, dual, seconds, n_iter
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
        counts = np.bincount(codes, minlength=n_classes)
        largest, n_pairs = int(np.sort(counts)[::-1][:2].sum()), n_classes * (n_classes - 1) // 2
        self.kernel, self.diagonal, self.costs, self.n_classes = rows, rows.diagonal(), costs, n_classes
        self.largest = np.max(self.diagonal)
        self.all = np.arange(len(codes), dtype=np.intp)
        self.C, self.tol, self.with_bias = C, tol, fit_intercept
        self.goal = min(tol, EXACT_GOAL if n_classes == 2 else FINE_GOAL)
        if n_classes > 2:
            self.addresses = np.zeros(len(codes), dtype=np.uintp)
            self.pointers = <void **> <size_t> self.addresses.ctypes.data
            rows.fetch(&self.all[0], len(codes), self.pointers)
        self.members = np.argsort(codes, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.inner = WorkingSet(largest, rows.single, fit_intercept, n_classes == 2, True)
        self.rows = np.empty(largest, dtype=np.intp)
        self.dual_coef = np.zeros((n_classes - 1, len(codes)))
        self.intercept, self.n_iter = np.zeros(n_pairs), np.zeros(n_pairs, dtype=np.int64)
        self.objective, self.gap, self.dual, self.seconds = np.full((4, n_pairs), np.nan)

    def run(self):
        """Solve the pairs in turn; return whether all were solved. Ctrl-C raises KeyboardInterrupt between two pairs."""
        cdef:
            double[:, ::1] dual_coef = self.dual_coef
            double[::1] intercept = self.intercept, objective = self.objective, gap = self.gap, dual = self.dual
            double[::1] seconds = self.seconds
            long long[::1] n_iter = self.n_iter
            Py_ssize_t first, second, k, q, steps, done, size, limit
            double goal
            double *beta = &self.inner.beta[0]
            double begun = perf_counter()
        for first in range(self.n_classes):
            for second in range(first + 1, self.n_classes):
                PyErr_CheckSignals()
                k = self.n_done
                size = self._load(first, second)
                limit, goal, steps = STEPS_PER_ROW * size + LEAST_STEPS, self.tol, 0
                while True:
                    with nogil:
                        done = self._solve(size, goal, limit - steps)
                    if done < 0:
                        return False
                    steps += done
                    self._measure(&intercept[k], &objective[k], &dual[k])
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
            inner.grain[k] = GRAIN * cost
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
