# A small dense box-constrained problem, solved by two-coordinate (or one-coordinate) steps.

from kernbench.kernels._rows cimport KernelRows


cdef class WorkingSet:
    cdef readonly Py_ssize_t size            # coordinates in use
    cdef readonly double dual_gain           # increase of the dual objective by the steps so far
    cdef double most_gain                    # steps end once `dual_gain` exceeds this
    cdef readonly double violation           # of the optimality conditions inside the set, as of the last step
    cdef double reach                        # SAME_BETA times the largest coefficient so far
    cdef Py_ssize_t padded
    cdef bint single, with_bias, whole
    cdef object arrays, matrix, row_addresses
    cdef char *block                         # kernel values between the members, or of the last row only
    cdef void **kernel                       # one row of `padded` kernel values per coordinate
    cdef double[::1] e, up, low, diagonal, beta, lower, upper, ridge, grain

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1
    cdef int _take_rows(self, KernelRows rows, const Py_ssize_t[::1] members) except -1
    cdef void _mark(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) noexcept nogil
