"""The coordinates of a working set of SMO: coefficients, gradient, bounds, and the kernel between them.

In the signs used here (beta_i = y_i a_i, e_i = y_i - f_i) the dual of the kernel SVM is

    maximise  sum_i p_i beta_i - zone |beta_i| - 1/2 beta' (K + R) beta
    subject to  lower <= beta <= upper  and, with a bias,  sum beta = 0,

and e is the gradient of its smooth part. R is a diagonal ridge, zero for the hinge. In classification p are the labels
and zone = 0; in regression p are the targets, and zone is the half width of the insensitive tube, which gives the dual
a kink at 0 (`dual_state`).

If the set is the whole problem and one class is rare, kernel rows are computed on demand: when a step needs one,
together with the rows that the next steps will probably need.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD

import numpy as np

from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

ROUNDING = SAME_BETA

cdef enum:
    RARE = 4                # rows are computed on demand if at most one in this many is of the rarer class
    FIRST_ROWS = 64         # most rows of the rarer class that are computed at first
    AHEAD = 3               # most rows computed ahead of demand

ctypedef fused real:
    float
    double


cdef class Coordinates:
    """Arrays of `capacity` coordinates, enlarged as needed; parameters are those of `WorkingSet`."""

    def __init__(self, Py_ssize_t capacity, bint single, bint with_bias, bint whole, double zone, str constraint):
        self.single, self.with_bias, self.whole = single, with_bias, whole
        self.zone, self.by_sign, self.bounded = zone, constraint != "sum", constraint == "size"
        self._allocate(capacity)

    def _allocate(self, Py_ssize_t capacity):
        cdef Py_ssize_t padded = (capacity + KB_PAD - 1) // KB_PAD * KB_PAD
        dtype = np.float32 if self.single else np.float64
        self.matrix = None  # otherwise the old and the new block would be in memory at the same time
        self.matrix = np.zeros((1 if self.whole else capacity, padded), dtype=dtype)
        self.block = <char *> <size_t> self.matrix.ctypes.data
        self.row_addresses = np.zeros(max(capacity, 1), dtype=np.uintp)
        self.kernel = <void **> <size_t> self.row_addresses.ctypes.data
        self.arrays = np.zeros((11 if self.by_sign else 9, padded))
        (self.e, self.up, self.low, self.diagonal, self.beta, self.lower, self.upper, self.ridge,
         self.least_change) = self.arrays[:9]
        if self.by_sign:
            self.up2, self.low2 = self.arrays[9:]

    cdef int _take(self, const Py_ssize_t[::1] members, state) except -1:
        """Take coefficients, gradient and bounds of the coordinates `members`."""
        cdef Py_ssize_t k, size = members.shape[0]
        if size > self.row_addresses.shape[0]:
            self._allocate(size)
        self.size = size
        self.padded = (size + KB_PAD - 1) // KB_PAD * KB_PAD
        self.dual_gain, self.most_gain = 0.0, INFINITY
        chosen, arrays = np.asarray(members), self.arrays
        for place, values in ((0, state.e), (3, state.diagonal), (4, state.beta), (5, state.lower), (6, state.upper),
                              (7, state.ridge), (8, state.least_change)):
            arrays[place, :size] = values[chosen]
        if self.by_sign:
            self.room = state.room()
            self.loose = self.bounded and self.room > 0.0
        for k in range(size):
            self.reach = max(self.reach, ROUNDING * fabs(self.beta[k]))
        self._pad()
        return 0

    cdef void _pad(self) noexcept nogil:
        """Set the padding, which is never chosen."""
        cdef Py_ssize_t k
        for k in range(self.size, self.padded):
            self.beta[k], self.e[k], self.diagonal[k], self.ridge[k] = 0.0, 0.0, 0.0, 0.0
            self.lower[k], self.upper[k], self.least_change[k] = 0.0, 0.0, 0.0
            self.up[k] = -INFINITY if self.with_bias else 0.0
            self.low[k] = INFINITY if self.with_bias else 0.0
            if self.by_sign:
                self.up2[k], self.low2[k] = -INFINITY, INFINITY

    cdef int _take_rows(self, KernelRows rows, const Py_ssize_t[::1] members) except -1:
        """Set the kernel between the members; for the whole problem the rows themselves, at once or on demand.

        Searches read up to KB_PAD - 1 entries beyond a row. In a matrix these belong to the next row; the row with the
        highest address is copied, since none follows.
        """
        cdef Py_ssize_t k, last = 0, item = 4 if self.single else 8
        if not self.whole:
            for k in range(self.size):
                self.kernel[k] = self.block + k * self.padded * item
            return rows.fetch_square(members, self.kernel)
        self.rows, self.n_held = rows, 0
        if rows.on_demand and RARE * min(self._n_negative(False), self.size - self._n_negative(True)) <= self.size:
            memset(self.kernel, 0, self.size * sizeof(void *))
            self.source = self.kernel
            return 0
        with nogil:
            rows.fetch(&members[0], self.size, self.kernel)
            for k in range(self.size):
                if self.kernel[k] > self.kernel[last]:
                    last = k
            memcpy(self.block, self.kernel[last], self.size * item)
            self.kernel[last] = self.block
        return 0

    # --- rows on demand ----------------------------------------------------------------------------------------------

    cdef Py_ssize_t _n_negative(self, bint strictly) noexcept nogil:
        """The number of coordinates that can be negative; with `strictly`, of those that cannot be positive. In
        classification both are the number of rows of the negative class."""
        cdef Py_ssize_t k, count = 0
        for k in range(self.size):
            count += self.lower[k] < 0.0 and not (strictly and self.upper[k] > 0.0)
        return count

    cdef int _demand(self, Py_ssize_t k, bint grows) except -1 nogil:
        """Compute row k, which is needed because its coordinate grows or shrinks, and rows that will be needed soon.

        These are at first the rows of the rarer class, later the next candidates in the same direction.
        """
        cdef:
            Py_ssize_t wanted[FIRST_ROWS + AHEAD + 1]
            void *rows[FIRST_ROWS + AHEAD + 1]
            double urgency[AHEAD + 1]
            Py_ssize_t place = self.places[k] if self.is_core else k
            Py_ssize_t q, r, m = 1
            double own
            bint rare_is_negative
        if self.source[place] == NULL:
            wanted[0] = place
            if self.n_held == 0 and not self.is_core:
                rare_is_negative = 2 * self._n_negative(False) <= self.size
                for q in range(self.size):
                    if q != place and (self.lower[q] < 0.0) == rare_is_negative and m <= FIRST_ROWS:
                        wanted[m] = q
                        m += 1
            else:
                for q in range(self.size):  # insertion into a short sorted list
                    own = (self.e[q] + self.up[q]) if grows else -(self.e[q] + self.low[q])
                    if own == -INFINITY or (m == AHEAD + 1 and own <= urgency[AHEAD]) or q == k:
                        continue
                    place = self.places[q] if self.is_core else q
                    if self.source[place] != NULL:
                        continue
                    r = min(m, AHEAD)
                    while r > 1 and own > urgency[r - 1]:
                        wanted[r], urgency[r] = wanted[r - 1], urgency[r - 1]
                        r -= 1
                    wanted[r], urgency[r] = place, own
                    m = min(m + 1, AHEAD + 1)
            self.rows.fetch(wanted, m, rows)
            self.n_held += m
            for q in range(m):
                self.source[wanted[q]] = rows[q]
            place = wanted[0]
        if self.is_core:
            if self.single:
                _gather_row[float](self, k, <const float *> self.source[place])
            else:
                _gather_row[double](self, k, <const double *> self.source[place])
        return 0


cdef void _gather_row(Coordinates work, Py_ssize_t k, const real *row) noexcept nogil:
    """The row of coordinate k of a core: the entries of its coordinates."""
    cdef real *own = <real *> work.block + k * work.padded
    cdef Py_ssize_t q
    for q in range(work.size):
        own[q] = row[work.places[q]]
    work.kernel[k] = own
