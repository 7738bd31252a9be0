"""The inner problem of SMO: a few hundred coordinates whose kernel block fits the cache, solved by small steps.

In the signs used here (beta_i = y_i a_i, e_i = y_i - f_i) the dual of the kernel SVM is

    maximise  sum_i beta_i y_i - 1/2 beta' (K + R) beta   subject to  lower <= beta <= upper  and, with a bias,
                                                                      sum beta = 0,

and e is its gradient; R is a diagonal ridge, zero for the hinge. A step with a bias moves two coordinates, beta_i += s
and beta_j -= s, chosen by second-order information (Fan, Chen, Lin, JMLR 2005); without one it moves the single
coordinate that gains most.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._pairs cimport (
    KB_PAD, best_partner_double, best_partner_float, move_and_choose_double, move_and_choose_float,
    move_and_scan_double, move_and_scan_float,
)

import numpy as np

from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

cdef double ROUNDING = SAME_BETA

ctypedef fused real:
    float
    double


cdef class WorkingSet:
    """A working set of `capacity` coordinates; it is enlarged as needed.

    Parameters
    ----------
    capacity : int
    single : bool
        Kernel values in float32.
    with_bias : bool
        Steps keep the sum of beta.
    whole : bool
        The set is always the whole problem: kernel rows are used directly if the cache holds them.
    """

    def __init__(self, Py_ssize_t capacity, bint single, bint with_bias, bint whole):
        self.single, self.with_bias, self.whole = single, with_bias, whole
        self._allocate(capacity)

    def _allocate(self, Py_ssize_t capacity):
        cdef Py_ssize_t padded = (capacity + KB_PAD - 1) // KB_PAD * KB_PAD
        dtype = np.float32 if self.single else np.float64
        self.matrix = np.zeros((1 if self.whole else capacity, padded), dtype=dtype)
        self.block = <char *> <size_t> self.matrix.ctypes.data
        self.row_addresses = np.zeros(max(capacity, 1), dtype=np.uintp)
        self.kernel = <void **> <size_t> self.row_addresses.ctypes.data
        self.arrays = np.zeros((9, padded))
        (self.e, self.up, self.low, self.diagonal, self.beta, self.lower, self.upper, self.ridge,
         self.grain) = self.arrays

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1:
        """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
        cdef Py_ssize_t k, size = members.shape[0]
        if size > self.row_addresses.shape[0]:
            self._allocate(size)
        self.size = size
        self.padded = (size + KB_PAD - 1) // KB_PAD * KB_PAD
        self.dual_gain, self.most_gain = 0.0, INFINITY
        chosen, arrays = np.asarray(members), self.arrays
        arrays[:, size : self.padded] = 0.0
        for place, values in ((0, state.e), (3, state.diagonal), (4, state.beta), (5, state.lower), (6, state.upper),
                              (7, state.ridge), (8, state.grain)):
            arrays[place, :size] = values[chosen]
        for k in range(size):
            self._mark(k)
            self.reach = max(self.reach, ROUNDING * fabs(self.beta[k]))
        # Padding that is never chosen.
        arrays[1, size : self.padded] = -np.inf if self.with_bias else 0.0
        arrays[2, size : self.padded] = np.inf if self.with_bias else 0.0
        return self._take_rows(rows, members)

    cdef int _take_rows(self, KernelRows rows, const Py_ssize_t[::1] members) except -1:
        """Set the kernel between the members; for the whole problem the rows themselves, if the cache holds them.

        Searches read up to KB_PAD - 1 entries beyond a row. In a matrix these belong to the next row; the row with the
        highest address is copied, since none follows.
        """
        cdef Py_ssize_t k, last = 0, item = 4 if self.single else 8
        if not self.whole:
            for k in range(self.size):
                self.kernel[k] = self.block + k * self.padded * item
            return rows.fetch_square(members, self.kernel)
        with nogil:
            rows.fetch(&members[0], self.size, self.kernel)
            for k in range(self.size):
                if self.kernel[k] > self.kernel[last]:
                    last = k
            memcpy(self.block, self.kernel[last], self.size * item)
            self.kernel[last] = self.block
        return 0

    cdef void _mark(self, Py_ssize_t k) noexcept nogil:
        """Set in which directions coordinate k can move: penalties with a bias, bounds on the step without."""
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


cdef Py_ssize_t _pair_steps(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) noexcept nogil:
    cdef:
        Py_ssize_t i, j, n = self.padded, steps = 0
        double *e = &self.e[0]
        double *up = &self.up[0]
        double *low = &self.low[0]
        double top, bottom, gain, curvature, step, room_i, room_j, after_i, after_j
        const real *row_i = kernel[0]
        const real *row_j = kernel[0]
    if real is float:
        i = move_and_scan_float(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    else:
        i = move_and_scan_double(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    while top - bottom > goal and steps < budget and self.dual_gain <= self.most_gain:
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
        # A coordinate that reaches its bound up to rounding is set to it exactly: tests for "at the bound" compare for
        # equality, and steps of the size of a rounding error would only mislead the search.
        after_i, after_j = self.beta[i] + step, self.beta[j] - step
        self.reach = max(self.reach, ROUNDING * max(fabs(after_i), fabs(after_j)))
        self.beta[i] = self.upper[i] if room_i - step <= min(self.grain[i], self.reach) else after_i
        self.beta[j] = self.lower[j] if room_j - step <= min(self.grain[j], self.reach) else after_j
        self.dual_gain += step * (top - e[j]) - 0.5 * step * step * curvature
        self._mark(i)
        self._mark(j)
        e[i] -= step * self.ridge[i]
        e[j] += step * self.ridge[j]
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
        double gain, violation, curvature, step, after, grain
        const real *row_i = kernel[0]
    if real is float:
        i = move_and_choose_float(e, row_i, 0.0, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain, &violation)
    else:
        i = move_and_choose_double(e, row_i, 0.0, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain, &violation)
    while violation > goal and gain > 0.0 and steps < budget and self.dual_gain <= self.most_gain:
        row_i = kernel[i]
        curvature = max(self.diagonal[i], 1e-12)
        step = min(max(e[i] / curvature, self.low[i]), self.up[i])
        after = self.beta[i] + step
        self.reach = max(self.reach, ROUNDING * fabs(after))
        grain = min(self.grain[i], self.reach)
        self.beta[i] = (self.upper[i] if self.up[i] - step <= grain else
                        self.lower[i] if step - self.low[i] <= grain else after)
        self.dual_gain += step * (e[i] - 0.5 * step * curvature)
        self._mark(i)
        e[i] -= step * self.ridge[i]
        if real is float:
            i = move_and_choose_float(e, row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain,
                                      &violation)
        else:
            i = move_and_choose_double(e, row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, &gain,
                                       &violation)
        steps += 1
    self.violation = violation
    return steps
