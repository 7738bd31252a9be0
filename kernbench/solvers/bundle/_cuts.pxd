# The cuts of a bundle, for compiled solvers.

from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._simplex_qp cimport SimplexQP


cdef class Cuts:
    cdef readonly Py_ssize_t n_cuts, capacity
    cdef Design design
    cdef SimplexQP qp
    cdef public Py_ssize_t kept
    cdef double[:, ::1] elements, scores       # a_k and, for a kernel, their scores
    cdef double[:, ::1] products, Q            # <a_k, a_l>; working memory
    cdef double[::1] offsets, multipliers, shares
    cdef double[::1] sum, sum_scores           # of the cuts, each times its multiplier; its scores, for a kernel
    cdef Py_ssize_t[::1] idle
    cdef int _append(self, const double *g, double offset) except -1 nogil
    cdef int _add_linear(self, const double *g, double offset) except -1 nogil
    cdef double _maximise(self, double alpha) noexcept nogil
    cdef void _sum_up(self) noexcept nogil
    cdef void _make_room(self) noexcept nogil
    cdef void _drop(self, Py_ssize_t k) noexcept nogil


# out = scale * sum_k u_k rows_k over the first m rows.
cdef void weighted_sum(const double[:, ::1] rows, const double[::1] u, Py_ssize_t m, double scale,
                       double *out) noexcept nogil
