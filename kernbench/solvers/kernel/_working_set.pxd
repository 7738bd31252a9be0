# A small dense box-constrained problem, solved by two-coordinate (or one-coordinate) steps.

from kernbench.kernels._rows cimport KernelRows


cdef class WorkingSet:
    cdef readonly Py_ssize_t size            # coordinates in use
    cdef readonly double dual_gain           # what the steps so far added to the dual objective
    cdef readonly double violation           # of the optimality conditions inside the set, as of the last step
    cdef Py_ssize_t padded
    cdef bint single, with_bias, whole
    cdef object arrays, matrix, row_addresses
    cdef char *block                         # copies of the set's kernel rows, where copies are needed
    cdef void **kernel                       # one row of `padded` kernel values per coordinate
    cdef double[::1] e, up, low, diagonal, beta, lower, upper

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, const double[::1] e, const double[::1] beta,
                  const double[::1] lower, const double[::1] upper, const double[::1] diagonal,
                  void **pointers) except -1
    cdef void _take_rows(self, const Py_ssize_t[::1] members, void **pointers) noexcept nogil
    cdef double _grain(self, Py_ssize_t k) noexcept nogil
    cdef void _mark(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) noexcept nogil
