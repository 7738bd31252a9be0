"""The inner problem of SMO: a few hundred coordinates whose kernel block fits the cache, solved by small steps.

::

    WorkingSet: shrinking, the core        (this file)
      |-- sign_steps (_signs)              pairs of one sign, in problems with a share nu
      |-- pair_steps, single_steps (_steps), with the kinks of a regression (_kinks)
      '-- Coordinates (_coordinates)       arrays, and rows of the kernel, also on demand

Steps scan all coordinates, and the solution may have few support vectors. So a set that is the whole problem is shrunk
(Joachims 1999): after every `SHRINK_STEPS` steps the coordinates that can still move form a *core*, a set of its own.
Once its violation is a tenth, the gradient of the others is updated, and unless one of them violates the conditions
more, the core is solved to the end.
"""

from libc.string cimport memcpy, memset

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.solvers.kernel.smo._coordinates cimport Coordinates, mark
from kernbench.solvers.kernel.smo._pairs cimport KB_PAD
from kernbench.solvers.kernel.smo._signs cimport mark_all_signs, mark_signs, sign_steps
from kernbench.solvers.kernel.smo._steps cimport pair_steps, single_steps

import numpy as np

cdef double SHRINK_SHARE = 0.3      # coordinates are left out only if they are at least this share, as in `active_set`
cdef double CORE_ACCURACY = 0.1     # a core is first solved until its violation is this share of that of all

cdef enum:
    SHRINK_STEPS = 100      # between two attempts to shrink
    SHRINK_ROWS = 200       # least size of a problem that is shrunk


cdef class WorkingSet(Coordinates):
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
        super().__init__(capacity, single, with_bias, whole, zone, constraint)
        self.shrinks = shrinks

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1:
        """Take the coordinates `members` of a :class:`~kernbench.solvers.kernel.smo.dual_state.State`."""
        self._begin_with(members, state)
        return self._take_rows(rows, members)

    cdef int load_with(self, matrix, const Py_ssize_t[::1] members, state) except -1:
        """Like `load`, with given kernel values between the members, of shape (size, padded size).

        Several sets may share these values.
        """
        cdef Py_ssize_t k, item = 4 if self.single else 8
        cdef char *block = <char *> <size_t> matrix.ctypes.data
        self._begin_with(members, state)
        self.shared = matrix
        for k in range(self.size):
            self.kernel[k] = block + k * self.padded * item
        return 0

    cdef int _begin_with(self, const Py_ssize_t[::1] members, state) except -1:
        cdef Py_ssize_t k
        self._take(members, state)
        for k in range(self.size):
            self._mark(k)
        self.begin()
        return 0

    cdef void begin(self) noexcept nogil:
        """Start to count the steps of a problem that was loaded."""
        self.in_core = self.trusted = False
        self.until_shrink = SHRINK_STEPS if self.shrinks and self.size >= SHRINK_ROWS else -1

    cdef void _mark(self, Py_ssize_t k) noexcept nogil:
        """Set in which directions coordinate k can move."""
        if self.by_sign:
            mark_signs(self, k)
        else:
            mark(self, k)

    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) except -1 nogil:
        """Step until the violation inside the set is at most `goal`; return the number of steps.

        The sequence of steps does not depend on how it is split into calls.
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
            return sign_steps(self, goal, budget)
        return pair_steps(self, goal, budget) if self.with_bias else single_steps(self, goal, budget)

    # --- shrinking ---------------------------------------------------------------------------------------------------

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
            core.e[q], core.beta[q] = self.e[k], self.beta[k]
            core.diagonal[q], core.ridge[q] = self.diagonal[k], self.ridge[k]
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
        # The matrix that a set of one coordinate was created with is large enough, but there are no `places` yet.
        if self.moved == NULL or self.matrix.size < size * self.padded:
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
            mark_all_signs(self)
