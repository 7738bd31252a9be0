"""The inner problem of SMO: a few hundred coordinates whose kernel block fits the cache, solved by small steps.

In the signs used here (beta_i = y_i a_i, e_i = y_i - f_i) the dual of the kernel SVM is

    maximise  sum_i beta_i y_i - 1/2 beta' K beta   subject to  lower <= beta <= upper  and, with a bias, sum beta = 0,

and e is its gradient. A step with a bias moves two coordinates, beta_i += s and beta_j -= s, chosen by second-order
information (Fan, Chen, Lin, JMLR 2005); without one it moves the single coordinate that gains most.
"""

from libc.math cimport INFINITY

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel._pairs cimport (
    KB_PAD, best_partner_double, best_partner_float, move_and_choose_double, move_and_choose_float,
    move_and_scan_double, move_and_scan_float,
)

import numpy as np

cdef double SAME_BETA = 1e-13   # share of its box within which a coefficient is at its bound

ctypedef fused real:
    float
    double


cdef class WorkingSet:
    """Room for a working set of up to `capacity` coordinates.

    Parameters
    ----------
    capacity : int
    single : bool
        Kernel values in float32.
    with_bias : bool
        Steps keep the sum of beta.
    whole : bool
        The set is always the whole problem: kernel rows are used where they are, not copied.
    """

    def __init__(self, Py_ssize_t capacity, bint single, bint with_bias, bint whole):
        cdef Py_ssize_t padded = (capacity + KB_PAD - 1) // KB_PAD * KB_PAD
        self.single, self.with_bias, self.whole = single, with_bias, whole
        self.matrix = np.zeros((1 if whole else capacity, padded), dtype=np.float32 if single else np.float64)
        self.block = <char *> <size_t> self.matrix.ctypes.data
        self.row_addresses = np.zeros(max(capacity, 1), dtype=np.uintp)
        self.kernel = <void **> <size_t> self.row_addresses.ctypes.data
        self.arrays = np.zeros((7, padded))
        self.e, self.up, self.low, self.diagonal, self.beta, self.lower, self.upper = self.arrays

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, const double[::1] e, const double[::1] beta,
                  const double[::1] lower, const double[::1] upper, const double[::1] diagonal,
                  void **pointers) except -1:
        """Take the coordinates `members`; `pointers` are their kernel rows over all coordinates."""
        cdef Py_ssize_t k, i
        self.size = members.shape[0]
        self.padded = (self.size + KB_PAD - 1) // KB_PAD * KB_PAD
        self.dual_gain = 0.0
        for k in range(self.size):
            i = members[k]
            self.e[k], self.beta[k] = e[i], beta[i]
            self.lower[k], self.upper[k], self.diagonal[k] = lower[i], upper[i], diagonal[i]
            self._mark(k)
        self._take_rows(members, pointers)
        for k in range(self.size, self.padded):
            # Padding that no search can choose.
            self.e[k] = self.diagonal[k] = 0.0
            self.up[k] = -INFINITY if self.with_bias else 0.0
            self.low[k] = INFINITY if self.with_bias else 0.0
        return 0

    cdef void _take_rows(self, const Py_ssize_t[::1] members, void **pointers) noexcept nogil:
        """Columns `members` of the rows, side by side; of the whole problem the rows themselves.

        Searches read up to KB_PAD - 1 entries beyond a row. In a matrix these belong to the next row; the row with
        the highest address, which has none, is copied.
        """
        cdef Py_ssize_t k, item = 4 if self.single else 8, last = 0
        for k in range(self.size):
            if pointers[k] > pointers[last]:
                last = k
        for k in range(self.size):
            if self.whole and k != last:
                self.kernel[k] = pointers[k]
                continue
            self.kernel[k] = self.block + (0 if self.whole else k * self.padded * item)
            if self.single:
                _gather_row[float](<const float *> pointers[k], members, self.size, <float *> self.kernel[k])
            else:
                _gather_row[double](<const double *> pointers[k], members, self.size, <double *> self.kernel[k])

    cdef double _grain(self, Py_ssize_t k) noexcept nogil:
        """What counts as rounding in beta_k."""
        return SAME_BETA * (self.upper[k] - self.lower[k])

    cdef void _mark(self, Py_ssize_t k) noexcept nogil:
        """Say which ways coordinate k can go: penalties with a bias, bounds on the step without."""
        if self.with_bias:
            self.up[k] = 0.0 if self.beta[k] < self.upper[k] else -INFINITY
            self.low[k] = 0.0 if self.beta[k] > self.lower[k] else INFINITY
        else:
            self.up[k] = self.upper[k] - self.beta[k]
            self.low[k] = self.lower[k] - self.beta[k]

    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) noexcept nogil:
        """Step until the violation inside the set is at most `goal`; return the number of steps."""
        if self.size == 0:
            self.violation = 0.0
            return 0
        if self.with_bias:
            if self.single:
                return _pair_steps[float](self, <const float **> self.kernel, goal, budget)
            return _pair_steps[double](self, <const double **> self.kernel, goal, budget)
        if self.single:
            return _single_steps[float](self, <const float **> self.kernel, goal, budget)
        return _single_steps[double](self, <const double **> self.kernel, goal, budget)


cdef void _gather_row(const real *row, const Py_ssize_t[::1] members, Py_ssize_t size, real *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(size):
        out[k] = row[members[k]]


cdef Py_ssize_t _pair_steps(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) noexcept nogil:
    cdef:
        Py_ssize_t i, j, n = self.padded, steps = 0
        double *e = &self.e[0]
        double *up = &self.up[0]
        double *low = &self.low[0]
        double top, bottom, gain, curvature, step, room_i, room_j
        const real *row_i = kernel[0]
        const real *row_j = kernel[0]
    if real is float:
        i = move_and_scan_float(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    else:
        i = move_and_scan_double(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    while top - bottom > goal and steps < budget:
        row_i = kernel[i]
        if real is float:
            j = best_partner_float(e, low, row_i, &self.diagonal[0], self.diagonal[i], top, n, &gain)
        else:
            j = best_partner_double(e, low, row_i, &self.diagonal[0], self.diagonal[i], top, n, &gain)
        if gain <= 0.0:
            break
        row_j = kernel[j]
        curvature = max(self.diagonal[i] + self.diagonal[j] - 2.0 * row_i[j], 1e-12)
        step = (top - e[j]) / curvature
        room_i = self.upper[i] - self.beta[i]
        room_j = self.beta[j] - self.lower[j]
        step = min(step, min(room_i, room_j))
        # A coordinate that meets its bound, but for rounding, is put on it exactly: tests for "at the bound" compare for
        # equality, and steps of the size of a rounding error would only disturb the search.
        self.beta[i] = self.upper[i] if room_i - step <= self._grain(i) else self.beta[i] + step
        self.beta[j] = self.lower[j] if room_j - step <= self._grain(j) else self.beta[j] - step
        self.dual_gain += step * (top - e[j]) - 0.5 * step * step * curvature
        self._mark(i)
        self._mark(j)
        if real is float:
            i = move_and_scan_float(e, row_i, row_j, step, up, low, n, &top, &bottom)
        else:
            i = move_and_scan_double(e, row_i, row_j, step, up, low, n, &top, &bottom)
        steps += 1
    self.violation = max(top - bottom, 0.0)
    return steps


cdef Py_ssize_t _single_steps(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) noexcept nogil:
    cdef:
        Py_ssize_t i, n = self.padded, steps = 0
        double *e = &self.e[0]
        double gain, violation, curvature, step
        const real *row_i = kernel[0]
    if real is float:
        i = move_and_choose_float(e, row_i, 0.0, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain, &violation)
    else:
        i = move_and_choose_double(e, row_i, 0.0, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain, &violation)
    while violation > goal and gain > 0.0 and steps < budget:
        row_i = kernel[i]
        curvature = max(self.diagonal[i], 1e-12)
        step = min(max(e[i] / curvature, self.low[i]), self.up[i])
        self.beta[i] = (self.upper[i] if self.up[i] - step <= self._grain(i) else
                        self.lower[i] if step - self.low[i] <= self._grain(i) else self.beta[i] + step)
        self.dual_gain += step * (e[i] - 0.5 * step * curvature)
        self._mark(i)
        if real is float:
            i = move_and_choose_float(e, row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain,
                                      &violation)
        else:
            i = move_and_choose_double(e, row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain,
                                       &violation)
        steps += 1
    self.violation = violation
    return steps
