# A small dense box-constrained problem, solved by two-coordinate (or one-coordinate) steps.

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._coordinates cimport Coordinates


cdef class WorkingSet(Coordinates):
    # shrinking of the whole problem
    cdef WorkingSet core                     # the coordinates that may still move, while the others are left out
    cdef double[:, ::1] before               # beta and e of the whole problem when the core was formed; scratch
    cdef object moved_addresses
    cdef void **moved                        # rows of coordinates that moved in the core
    cdef Py_ssize_t until_shrink             # steps until coordinates are left out
    cdef double core_goal                    # violation at which all coordinates are looked at again
    cdef bint shrinks, in_core
    cdef bint trusted                        # whether no coordinate outside the last core violated the conditions more

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1
    cdef int load_with(self, matrix, const Py_ssize_t[::1] members, state) except -1
    cdef int _begin_with(self, const Py_ssize_t[::1] members, state) except -1
    cdef void begin(self) noexcept nogil
    cdef void _mark(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) except -1 nogil
    cdef Py_ssize_t _steps(self, double goal, Py_ssize_t budget) except -1 nogil
    cdef int _enter(self) except -1
    cdef bint _stays(self, Py_ssize_t k) noexcept nogil
    cdef int _hold(self, Py_ssize_t size) except -1
    cdef void _write_back(self) noexcept nogil
