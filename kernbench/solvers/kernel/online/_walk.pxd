# Steps on drawn examples, with their kernel rows fetched together.

from kernbench.kernels._rows cimport KernelRows

cdef enum:
    BATCH = 256     # largest number of draws processed together


cdef class Walk:
    cdef KernelRows rows
    cdef readonly long long n_walks, n_steps                # walks and steps so far
    cdef public long long n_looked                          # kernel values that were used without a walk
    cdef Py_ssize_t n, ahead, length, n_wanted
    cdef const Py_ssize_t *drawn
    cdef Py_ssize_t[::1] wanted, place, slots               # rows to fetch; a draw's row among them, or -1; addresses
    cdef double[::1] local, room                            # of a draw: its response, and its distance from a step
    cdef double[::1] steps, later                           # of a row: the step, and its share in a sum
    cdef double slack
    cdef Py_ssize_t n_missing, refused                      # rows to compute; the first draw whose row did not fit

    cdef Py_ssize_t open(self, const Py_ssize_t *drawn, Py_ssize_t length, const double *responses) noexcept nogil
    cdef void want(self, Py_ssize_t k, double room) noexcept nogil
    cdef bint _take(self, Py_ssize_t k) noexcept nogil
    cdef int fetch(self) except -1 nogil
    cdef bint has(self, Py_ssize_t k) noexcept nogil
    cdef void add(self, Py_ssize_t k, double step, double passed) noexcept nogil
    cdef void close(self, Py_ssize_t n_done, double *responses) noexcept nogil
    cdef void _add_rows(self, const double *steps, double *target) noexcept nogil
    cdef void add_sums(self, double share, const double *y, const double *coef, double *coef_sums,
                       const double *responses, double *response_sums) noexcept nogil
