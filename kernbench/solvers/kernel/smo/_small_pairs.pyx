"""SMO for all pairs of classes, with kernel values from one matrix in memory (`_small_problems`).

The kernel rows of more than two classes are computed once, and the block of each pair is copied from them. Two classes
use the rows themselves, on demand if one class is rare.
"""

from libc.math cimport INFINITY

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._coordinates cimport ROUNDING
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD
from kernbench.solvers.kernel.smo._small_problems cimport SmallProblems
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet

import numpy as np

from kernbench.solvers.kernel.smo import _small_problems

cdef double EXACT_GOAL = _small_problems.EXACT_GOAL
cdef double FINE_GOAL = 1e-7        # violation to which several pairs are continued; 1e-11 would be a third of the time

ctypedef fused real:
    float
    double


cdef class SmallPairs(SmallProblems):
    """All pairs of classes, one against one, with the hinge loss.

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

    Attributes
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n)
        In the layout of :mod:`kernbench.estimators.svm.multiclass`, with the later class of a pair positive; pairs are
        in the order (0, 1), (0, 2), ..., (1, 2), ...
    """

    cdef object addresses
    cdef void **pointers                # to the rows of the kernel, of more than two classes
    cdef const Py_ssize_t[::1] members, starts
    cdef const double[::1] costs
    cdef double C
    cdef Py_ssize_t n_classes
    cdef Py_ssize_t first, second       # the current pair
    cdef Py_ssize_t[::1] rows           # ... and its rows, ascending

    def __init__(self, KernelRows rows, codes, n_classes, costs, *, C, fit_intercept, tol):
        self.n_classes = n_classes
        largest = self._sort(codes)
        self._begin(rows, n_classes * (n_classes - 1) // 2, largest, tol, EXACT_GOAL if n_classes == 2 else FINE_GOAL,
                    fit_intercept, n_classes == 2, 0.0)
        self.costs, self.C = costs, C
        self.first, self.second = 0, 0
        if n_classes > 2:
            self.addresses = np.zeros(len(codes), dtype=np.uintp)
            self.pointers = <void **> <size_t> self.addresses.ctypes.data
            rows.fetch(&self.all[0], len(codes), self.pointers)
        self.rows = np.empty(largest, dtype=np.intp)
        self.dual_coef = np.zeros((n_classes - 1, len(codes)))

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

    cdef int _load(self, Py_ssize_t k) except -1:
        """Select the rows of the next two classes, in order, with their block of the kernel."""
        cdef:
            WorkingSet inner = self.inner
            const Py_ssize_t *members = &self.members[0]
            Py_ssize_t a, b, a_end, b_end, q = 0, i
            double y, cost, above = 0.0, below = 0.0
        self.second += 1
        if self.second == self.n_classes:
            self.first += 1
            self.second = self.first + 1
        a, a_end = self.starts[self.first], self.starts[self.first + 1]
        b, b_end = self.starts[self.second], self.starts[self.second + 1]
        while a < a_end or b < b_end:
            if b == b_end or (a < a_end and members[a] < members[b]):
                i, y, a = members[a], -1.0, a + 1
            else:
                i, y, b = members[b], 1.0, b + 1
            cost = self.costs[i]
            self.rows[q], self.linear[q] = i, y
            inner.beta[q], inner.e[q], inner.diagonal[q], inner.ridge[q] = 0.0, y, self.diagonal[i], 0.0
            inner.lower[q], inner.upper[q] = min(0.0, y * cost), max(0.0, y * cost)
            inner.least_change[q] = ROUNDING * cost
            inner._mark(q)
            above += inner.upper[q]
            below -= inner.lower[q]
            q += 1
        inner.size, inner.padded = q, (q + KB_PAD - 1) // KB_PAD * KB_PAD
        inner.dual_gain, inner.most_gain = 0.0, INFINITY
        inner._pad()
        inner.begin()
        self.alpha = 1.0 / (self.C * q)
        self.start[k] = 0.0
        self.at_zero[k] = self.alpha * (2.0 * min(above, below) if self.with_bias else above + below)
        if inner.whole:
            inner._take_rows(self.kernel, self.all)
        elif inner.single:
            _take_block[float](inner, <const float **> self.pointers, &self.rows[0])
        else:
            _take_block[double](inner, <const double **> self.pointers, &self.rows[0])
        return 0

    cdef int _keep(self, Py_ssize_t k) except -1:
        cdef double[:, ::1] dual_coef = self.dual_coef
        cdef Py_ssize_t q
        for q in range(self.inner.size):  # row second - 1 for the rows of the first class, row first for the others
            dual_coef[self.second - 1 if self.inner.lower[q] < 0.0 else self.first, self.rows[q]] = self.inner.beta[q]
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
