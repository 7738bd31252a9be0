"""The inner problem of SMO: a few hundred coordinates whose kernel block fits the cache, solved by small steps.

In the signs used here (beta_i = y_i a_i, e_i = y_i - f_i) the dual of the kernel SVM is

    maximise  sum_i p_i beta_i - zone |beta_i| - 1/2 beta' (K + R) beta
    subject to  lower <= beta <= upper  and, with a bias,  sum beta = 0,

and e is the gradient of its smooth part; R is a diagonal ridge, zero for the hinge; p are labels and zone = 0, or in a
regression targets and the kink at 0 that an insensitive zone of the loss brings (`dual_state`). A step with a bias moves two coordinates, beta_i += s
and beta_j -= s, chosen by second-order information (Fan, Chen, Lin, JMLR 2005); without one it moves the single
coordinate that gains most. In problems with a share nu the pair is of one sign (`dual_state`, families).

A set that is the whole problem has two means more, since steps scan all its coordinates and the solution may have few
support vectors:

* rows on demand: where one class is rare, a kernel row is computed when a step needs it, with the rows that the next
  steps will probably need;
* shrinking (Joachims 1999): after every `SHRINK_STEPS` steps the coordinates that can still move form a *core*, a set of
  its own. Once its violation is a tenth, the gradient of the others is updated, and unless one of them violates the
  conditions more, the core is solved to the end.
"""

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._pairs cimport (
    KB_PAD, best_partner_double, best_partner_float, move_and_choose_double, move_and_choose_float,
    move_and_choose_kinked_double, move_and_choose_kinked_float, move_and_scan_double, move_and_scan_float,
)

import numpy as np

from kernbench.solvers.kernel.smo.dual_state import SAME_BETA

cdef double ROUNDING = SAME_BETA
cdef double SHRINK_SHARE = 0.3      # coordinates are left out only if they are at least this share, as in `active_set`
cdef double CORE_ACCURACY = 0.1     # a core is first solved until its violation is this share of that of all

cdef enum:
    SHRINK_STEPS = 100      # between two attempts to shrink
    SHRINK_ROWS = 200       # least size of a problem that is shrunk
    RARE = 4                # rows are computed on demand if at most one in this many is of the rarer class
    FIRST_ROWS = 64         # most rows of the rarer class that are computed at first
    AHEAD = 3               # most rows computed ahead of demand

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
    shrinks : bool
        Whether to leave out coordinates that will probably stay at their bound.
    zone : float, default=0.0
    constraint : {"sum", "signs", "size"}, default="sum"
    """

    def __init__(self, Py_ssize_t capacity, bint single, bint with_bias, bint whole, bint shrinks, double zone=0.0,
                 str constraint="sum"):
        self.single, self.with_bias, self.whole, self.shrinks = single, with_bias, whole, shrinks
        self.zone, self.by_sign, self.bounded = zone, constraint != "sum", constraint == "size"
        self._allocate(capacity)

    def _allocate(self, Py_ssize_t capacity):
        cdef Py_ssize_t padded = (capacity + KB_PAD - 1) // KB_PAD * KB_PAD
        dtype = np.float32 if self.single else np.float64
        self.matrix = np.zeros((1 if self.whole else capacity, padded), dtype=dtype)
        self.block = <char *> <size_t> self.matrix.ctypes.data
        self.row_addresses = np.zeros(max(capacity, 1), dtype=np.uintp)
        self.kernel = <void **> <size_t> self.row_addresses.ctypes.data
        self.arrays = np.zeros((11 if self.by_sign else 9, padded))
        (self.e, self.up, self.low, self.diagonal, self.beta, self.lower, self.upper, self.ridge,
         self.least_change) = self.arrays[:9]
        if self.by_sign:
            self.up2, self.low2 = self.arrays[9:]

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1:
        """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
        self._take(members, state)
        return self._take_rows(rows, members)

    cdef int load_with(self, matrix, const Py_ssize_t[::1] members, state) except -1:
        """Do so with a given kernel between the members, shape (size, padded size), which several sets may share."""
        cdef Py_ssize_t k, item = 4 if self.single else 8
        cdef char *block = <char *> <size_t> matrix.ctypes.data
        self._take(members, state)
        self.shared = matrix
        for k in range(self.size):
            self.kernel[k] = block + k * self.padded * item
        return 0

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
            self._mark(k)
            self.reach = max(self.reach, ROUNDING * fabs(self.beta[k]))
        self._pad()
        self.begin()
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

    cdef void begin(self) noexcept nogil:
        """Start to count the steps of a problem that was loaded."""
        self.in_core = self.trusted = False
        self.until_shrink = SHRINK_STEPS if self.shrinks and self.size >= SHRINK_ROWS else -1

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

    cdef void _mark(self, Py_ssize_t k) noexcept nogil:
        """Set in which directions coordinate k can move: with a bias what its slopes differ from e by, infinite where it
        cannot move; bounds on the step without."""
        if self.by_sign:
            self._mark_by_sign(k)
        elif self.with_bias:
            self.up[k] = (
                -INFINITY if self.beta[k] >= self.upper[k] else -self.zone if self.beta[k] >= 0.0 else self.zone
            )
            self.low[k] = (
                INFINITY if self.beta[k] <= self.lower[k] else -self.zone if self.beta[k] > 0.0 else self.zone
            )
        else:
            self.up[k] = self.upper[k] - self.beta[k]
            self.low[k] = self.lower[k] - self.beta[k]

    cdef void _mark_by_sign(self, Py_ssize_t k) noexcept nogil:
        """The same for each family; see `State.families`."""
        cdef double beta = self.beta[k]
        cdef bint can_grow = beta < self.upper[k], can_shrink = beta > self.lower[k]
        self.up[k] = 0.0 if can_grow and (self.loose or beta >= 0.0) else -INFINITY
        self.low[k] = 0.0 if (can_shrink if self.loose else beta > 0.0) else INFINITY
        self.up2[k] = 0.0 if beta < 0.0 and not self.loose else -INFINITY
        self.low2[k] = 0.0 if can_shrink and not self.loose and (self.bounded or beta <= 0.0) else INFINITY

    cdef void _mark_all_by_sign(self) noexcept nogil:
        cdef Py_ssize_t k
        self.loose = self.bounded and self.room > 0.0
        for k in range(self.size):
            self._mark_by_sign(k)

    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) except -1 nogil:
        """Step until the violation inside the set is at most `goal`; return the number of steps.

        Where a call ends does not change the steps.
        """
        cdef:
            Py_ssize_t steps = 0, done, room
            double target
        if self.until_shrink < 0:
            return self._steps(goal, budget)
        while True:
            if not self.in_core:
                room = min(budget - steps, self.until_shrink)
                done = self._steps(goal, room)
                steps += done
                self.until_shrink -= done
                if self.violation <= goal or done < room or steps == budget:
                    return steps
                with gil:
                    self._enter()
                self.until_shrink = SHRINK_STEPS
                if not self.in_core:
                    continue
            room, target = budget - steps, max(goal, self.core_goal)
            self.core.dual_gain, self.core.most_gain, self.core.reach = self.dual_gain, self.most_gain, self.reach
            done = self.core._steps(target, room)
            steps += done
            self.dual_gain, self.reach, self.room = self.core.dual_gain, self.core.reach, self.core.room
            self._write_back()
            self._steps(goal, 0)  # the violation of all
            if self.core.violation > target and done == room:
                return steps
            self.in_core = False
            self.trusted = self.core.violation <= target and self.violation <= target
            if self.trusted and self.violation > goal:
                self.until_shrink = 0

    cdef Py_ssize_t _steps(self, double goal, Py_ssize_t budget) except -1 nogil:
        """Steps on the coordinates in use."""
        if self.size == 0:
            self.violation = 0.0
            return 0
        if self.by_sign:
            if self.single:
                return _steps_by_sign[float](self, <const float **> self.kernel, goal, budget)
            return _steps_by_sign[double](self, <const double **> self.kernel, goal, budget)
        if self.with_bias:
            if self.single:
                return _pair_steps[float](self, <const float **> self.kernel, goal, budget)
            return _pair_steps[double](self, <const double **> self.kernel, goal, budget)
        if self.single:
            return _single_steps[float](self, <const float **> self.kernel, goal, budget)
        return _single_steps[double](self, <const double **> self.kernel, goal, budget)

    # --- shrinking -----------------------------------------------------------------------------------------------

    cdef bint _stays(self, Py_ssize_t k) noexcept nogil:
        """Whether coordinate k is at a bound or at the kink, and no step with a violating partner would move it away."""
        cdef double beta = self.beta[k], e = self.e[k]
        if self.by_sign and not (e + self.up2[k] < self.bottom2 and e + self.low2[k] > self.top2):
            return False
        if self.with_bias:
            return e + self.up[k] < self.bottom and e + self.low[k] > self.top
        return ((self.up[k] <= 0.0 or e < (self.zone if beta >= 0.0 else -self.zone)) and
                (self.low[k] >= 0.0 or e > (self.zone if beta > 0.0 else -self.zone)))

    cdef int _enter(self) except -1:
        """Form the core of the coordinates that may still move, if it is small enough."""
        cdef:
            Py_ssize_t k, q, m = 0
            WorkingSet core = self.core
        for k in range(self.size):
            m += not self._stays(k)
        if m > (1.0 - SHRINK_SHARE) * self.size:
            return 0
        if core is None:
            core = self.core = WorkingSet(m, self.single, self.with_bias, True, False, self.zone,
                                          "size" if self.bounded else "signs" if self.by_sign else "sum")
            core.is_core = True
            self.before = np.empty((3, self.arrays.shape[1]))
        core._hold(m)
        core.room, core.loose = self.room, self.loose
        core.rows, core.source = self.rows, self.kernel
        q = 0
        for k in range(self.size):
            if self._stays(k):
                continue
            core.places[q] = k
            core.e[q], core.beta[q], core.diagonal[q], core.ridge[q] = self.e[k], self.beta[k], self.diagonal[k], self.ridge[k]
            core.lower[q], core.upper[q], core.least_change[q] = self.lower[k], self.upper[k], self.least_change[k]
            core._mark(q)
            q += 1
        self.before[0, : self.size] = self.beta[: self.size]
        self.before[1, : self.size] = self.e[: self.size]
        self.core_goal = 0.0 if self.trusted else CORE_ACCURACY * self.violation
        self.in_core = True
        return 0

    cdef int _hold(self, Py_ssize_t size) except -1:
        """Make room for a core of this size."""
        if size > self.row_addresses.shape[0]:
            self._allocate(size)
        self.size, self.padded = size, (size + KB_PAD - 1) // KB_PAD * KB_PAD
        if self.matrix.size < size * self.padded:
            self.matrix = np.zeros(size * self.padded, dtype=self.matrix.dtype)
            self.block = <char *> <size_t> self.matrix.ctypes.data
            self.places = np.empty(size, dtype=np.intp)
            self.moved_addresses = np.empty(size, dtype=np.uintp)
            self.moved = <void **> <size_t> self.moved_addresses.ctypes.data
        memset(self.kernel, 0, size * sizeof(void *))
        self._pad()
        return 0

    cdef void _write_back(self) noexcept nogil:
        """Take the coefficients of the core, and update the gradient of all coordinates."""
        cdef:
            Py_ssize_t k, q, m = 0, n = self.size
            double change
        for q in range(self.core.size):
            k = self.core.places[q]
            change = self.core.beta[q] - self.before[0, k]
            if change != 0.0:
                self.core.moved[m], self.before[2, m] = self.kernel[k], -change
                m += 1
        memcpy(&self.e[0], &self.before[1, 0], n * sizeof(double))
        if self.single:
            add_rows_float(<float **> self.core.moved, &self.before[2, 0], m, 0, n, &self.e[0])
        else:
            add_rows_double(<double **> self.core.moved, &self.before[2, 0], m, 0, n, &self.e[0])
        for q in range(self.core.size):
            k = self.core.places[q]
            self.beta[k], self.e[k] = self.core.beta[q], self.core.e[q]
            self._mark(k)
        if self.by_sign and self.loose != self.core.loose:
            self._mark_all_by_sign()

    # --- families of signs ---------------------------------------------------------------------------------------

    cdef Py_ssize_t _look(self, bint single, const void *row_i, const void *row_j, double step,
                          Py_ssize_t *other) noexcept nogil:
        """Move the gradient by a step; find in each family the coordinate that wants to grow most, and the extremes."""
        cdef Py_ssize_t i, n = self.padded
        cdef double *e = &self.e[0]
        self.top2, self.bottom2, other[0] = -INFINITY, INFINITY, 0
        if single:
            i = move_and_scan_float(e, <const float *> row_i, <const float *> row_j, step, &self.up[0], &self.low[0], n,
                                    &self.top, &self.bottom)
            if not self.loose:
                other[0] = move_and_scan_float(e, <const float *> row_i, <const float *> row_j, 0.0, &self.up2[0],
                                               &self.low2[0], n, &self.top2, &self.bottom2)
        else:
            i = move_and_scan_double(e, <const double *> row_i, <const double *> row_j, step, &self.up[0], &self.low[0],
                                     n, &self.top, &self.bottom)
            if not self.loose:
                other[0] = move_and_scan_double(e, <const double *> row_i, <const double *> row_j, 0.0, &self.up2[0],
                                                &self.low2[0], n, &self.top2, &self.bottom2)
        return i

    cdef double _step_of_pair(self, Py_ssize_t i, Py_ssize_t j, double slope, double curvature) noexcept nogil:
        """The best step of a pair up to a bound, to 0, and to the bound on the sum of magnitudes; take it."""
        cdef:
            double beta_i = self.beta[i], beta_j = self.beta[j], after_i, after_j, step, growth
            double end_i = 0.0 if beta_i < 0.0 else self.upper[i], end_j = 0.0 if beta_j > 0.0 else self.lower[j]
        step = min(slope / curvature, min(end_i - beta_i, beta_j - end_j))
        if self.bounded:
            growth = (1.0 if beta_i >= 0.0 else -1.0) + (1.0 if beta_j <= 0.0 else -1.0)
            if growth > 0.0 and step >= self.room / growth:
                step = self.room / growth
                self.room = 0.0
            else:
                self.room -= growth * step
        self.dual_gain += step * slope - 0.5 * step * step * curvature
        after_i, after_j = beta_i + step, beta_j - step
        self.reach = max(self.reach, ROUNDING * max(fabs(after_i), fabs(after_j)))
        self.beta[i] = end_i if end_i - beta_i - step <= min(self.least_change[i], self.reach) else after_i
        self.beta[j] = end_j if beta_j - end_j - step <= min(self.least_change[j], self.reach) else after_j
        return step

    # --- the kink at zero ----------------------------------------------------------------------------------------

    cdef double _step_over_kinks(self, Py_ssize_t i, Py_ssize_t j, double slope, double curvature, double end) noexcept nogil:
        """The best step of a pair, up to `end`, and its gain. Where a coefficient passes 0, the slope drops by 2 zone."""
        cdef:
            double kink_i = -self.beta[i] if self.beta[i] < 0.0 else INFINITY
            double kink_j = self.beta[j] if self.beta[j] > 0.0 else INFINITY
            double step = 0.0, kink, length
            int passed
        for passed in range(3):
            kink = INFINITY if passed == 2 else max(kink_i, kink_j) if passed == 1 else min(kink_i, kink_j)
            length = min(min(slope / curvature, end - step), kink - step)
            self.dual_gain += length * (slope - 0.5 * length * curvature)
            step = kink if length == kink - step else step + length
            slope -= length * curvature + 2.0 * self.zone
            if step < kink or step >= end or slope <= 0.0:
                break
        return step

    cdef void _round_to_zero(self, Py_ssize_t k) noexcept nogil:
        """Set a coefficient that is 0 up to rounding to 0."""
        if fabs(self.beta[k]) <= min(self.least_change[k], self.reach):
            self.beta[k] = 0.0

    # --- rows on demand ------------------------------------------------------------------------------------------

    cdef Py_ssize_t _n_negative(self, bint strictly) noexcept nogil:
        """The number of coordinates that can be negative; `strictly`, those that cannot be positive. The same in
        classification: the rows of the negative class."""
        cdef Py_ssize_t k, count = 0
        for k in range(self.size):
            count += self.lower[k] < 0.0 and not (strictly and self.upper[k] > 0.0)
        return count

    cdef int _demand(self, Py_ssize_t k, bint grows) except -1 nogil:
        """Compute row k, which is wanted because its coordinate grows or shrinks, and rows that will be wanted soon.

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


cdef void _gather_row(WorkingSet self, Py_ssize_t k, const real *row) noexcept nogil:
    """The row of coordinate k of a core: the entries of its coordinates."""
    cdef real *own = <real *> self.block + k * self.padded
    cdef Py_ssize_t q
    for q in range(self.size):
        own[q] = row[self.places[q]]
    self.kernel[k] = own


cdef Py_ssize_t _pair_steps(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    cdef:
        Py_ssize_t i, j, n = self.padded, steps = 0
        double *e = &self.e[0]
        double *up = &self.up[0]
        double *low = &self.low[0]
        double top, bottom, gain, curvature, slope, step, room_i, room_j, after_i, after_j
        const real *row_i = <const real *> self.block  # any readable row
        const real *row_j = row_i
    if real is float:
        i = move_and_scan_float(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    else:
        i = move_and_scan_double(e, row_i, row_j, 0.0, up, low, n, &top, &bottom)
    while top - bottom > goal and steps < budget and self.dual_gain <= self.most_gain:
        if kernel[i] == NULL:
            self._demand(i, True)
        row_i = kernel[i]
        if real is float:
            j = best_partner_float(e, low, row_i, &self.diagonal[0], self.diagonal[i], top, n, &gain)
        else:
            j = best_partner_double(e, low, row_i, &self.diagonal[0], self.diagonal[i], top, n, &gain)
        if gain <= 0.0:
            break
        if kernel[j] == NULL:
            self._demand(j, False)
        row_j = kernel[j]
        curvature = max(self.diagonal[i] + self.diagonal[j] - 2.0 * row_i[j], 1e-12)
        slope = top - (e[j] + low[j])
        room_i = self.upper[i] - self.beta[i]
        room_j = self.beta[j] - self.lower[j]
        if self.zone > 0.0:
            step = self._step_over_kinks(i, j, slope, curvature, min(room_i, room_j))
        else:
            step = min(slope / curvature, min(room_i, room_j))
            self.dual_gain += step * slope - 0.5 * step * step * curvature
        # A coordinate that reaches its bound up to rounding is set to it exactly: tests for "at the bound" compare for
        # equality, and steps of the size of a rounding error would only mislead the search.
        after_i, after_j = self.beta[i] + step, self.beta[j] - step
        self.reach = max(self.reach, ROUNDING * max(fabs(after_i), fabs(after_j)))
        self.beta[i] = self.upper[i] if room_i - step <= min(self.least_change[i], self.reach) else after_i
        self.beta[j] = self.lower[j] if room_j - step <= min(self.least_change[j], self.reach) else after_j
        if self.zone > 0.0:
            self._round_to_zero(i)
            self._round_to_zero(j)
        self._mark(i)
        self._mark(j)
        e[i] -= step * self.ridge[i]
        e[j] += step * self.ridge[j]
        if real is float:
            i = move_and_scan_float(e, row_i, row_j, step, up, low, n, &top, &bottom)
        else:
            i = move_and_scan_double(e, row_i, row_j, step, up, low, n, &top, &bottom)
        steps += 1
    self.violation, self.top, self.bottom = max(top - bottom, 0.0), top, bottom
    return steps


cdef Py_ssize_t _steps_by_sign(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    """Pair steps in the family of the larger violation."""
    cdef:
        Py_ssize_t i, j, other, steps = 0
        double *low
        double top, gain, curvature, step
        const real *row_i = <const real *> self.block  # any readable row
        const real *row_j = row_i
        bint single = real is float
    i = self._look(single, row_i, row_j, 0.0, &other)
    while (max(self.top - self.bottom, self.top2 - self.bottom2) > goal and steps < budget
           and self.dual_gain <= self.most_gain):
        top, low = self.top, &self.low[0]
        if self.top2 - self.bottom2 > self.top - self.bottom:
            i, top, low = other, self.top2, &self.low2[0]
        if kernel[i] == NULL:
            self._demand(i, True)
        row_i = kernel[i]
        if real is float:
            j = best_partner_float(&self.e[0], low, row_i, &self.diagonal[0], self.diagonal[i], top, self.padded, &gain)
        else:
            j = best_partner_double(&self.e[0], low, row_i, &self.diagonal[0], self.diagonal[i], top, self.padded, &gain)
        if gain <= 0.0:
            break
        if kernel[j] == NULL:
            self._demand(j, False)
        row_j = kernel[j]
        curvature = max(self.diagonal[i] + self.diagonal[j] - 2.0 * row_i[j], 1e-12)
        step = self._step_of_pair(i, j, top - self.e[j], curvature)
        if self.loose != (self.bounded and self.room > 0.0):
            self._mark_all_by_sign()
        else:
            self._mark_by_sign(i)
            self._mark_by_sign(j)
        self.e[i] -= step * self.ridge[i]
        self.e[j] += step * self.ridge[j]
        i = self._look(single, row_i, row_j, step, &other)
        steps += 1
    self.violation = max(0.0, max(self.top - self.bottom, self.top2 - self.bottom2))
    return steps


cdef Py_ssize_t _single_steps(WorkingSet self, const real **kernel, double goal, Py_ssize_t budget) except -1 nogil:
    cdef:
        Py_ssize_t i, steps = 0
        double *e = &self.e[0]
        double gain, violation, curvature, step, after, least_change
        const real *row_i = <const real *> self.block  # any readable row
    i = _move_and_choose[real](self, row_i, 0.0, &gain, &violation)
    while violation > goal and gain > 0.0 and steps < budget and self.dual_gain <= self.most_gain:
        if kernel[i] == NULL:
            self._demand(i, e[i] > 0.0)
        row_i = kernel[i]
        curvature = max(self.diagonal[i], 1e-12)
        step = e[i] / curvature
        if self.zone > 0.0:
            step = _shrunk(self.beta[i] + step, self.zone / curvature) - self.beta[i]
        step = min(max(step, self.low[i]), self.up[i])
        after = self.beta[i] + step
        self.reach = max(self.reach, ROUNDING * fabs(after))
        least_change = min(self.least_change[i], self.reach)
        self.dual_gain += step * (e[i] - 0.5 * step * curvature) - self.zone * (fabs(after) - fabs(self.beta[i]))
        self.beta[i] = (self.upper[i] if self.up[i] - step <= least_change else
                        self.lower[i] if step - self.low[i] <= least_change else after)
        self._mark(i)
        e[i] -= step * self.ridge[i]
        i = _move_and_choose[real](self, row_i, step, &gain, &violation)
        steps += 1
    self.violation = violation
    return steps


cdef double _shrunk(double x, double width) noexcept nogil:
    """x moved towards 0 by `width`, at most to 0."""
    cdef double size = fabs(x) - width
    return 0.0 if size <= 0.0 else size if x > 0.0 else -size


cdef Py_ssize_t _move_and_choose(WorkingSet self, const real *row_i, double step, double *gain, double *violation) noexcept nogil:
    cdef Py_ssize_t n = self.padded
    if self.zone > 0.0:
        if real is float:
            return move_and_choose_kinked_float(&self.e[0], row_i, step, &self.diagonal[0], &self.low[0], &self.up[0],
                                                &self.beta[0], self.zone, n, gain, violation)
        else:
            return move_and_choose_kinked_double(&self.e[0], row_i, step, &self.diagonal[0], &self.low[0], &self.up[0],
                                                 &self.beta[0], self.zone, n, gain, violation)
    if real is float:
        return move_and_choose_float(&self.e[0], row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, gain,
                                     violation)
    else:
        return move_and_choose_double(&self.e[0], row_i, step, &self.diagonal[0], &self.low[0], &self.up[0], n, gain,
                                      violation)
