# Newton steps on a smoothed risk, for compiled solvers.

from kernbench.solvers.bundle._line_search cimport SampledLine
from kernbench.solvers.bundle._risk cimport SmoothedRisk
from kernbench.solvers.design._design cimport Design


cdef class SmoothedNewton:
    cdef SmoothedRisk risk
    cdef SampledLine line
    cdef Design design
    cdef double alpha, value, excess
    cdef bint progress
    # the point, its scores and gradient; working memory of conjugate gradients
    cdef double[::1] coef, scores, gradient, residual, p, p_scores, product, curved
    cdef bint may_go_on(self, const double *element) noexcept nogil
    cdef double take(self, const double *coef, const double *scores, double risk, double *g) except? -1 nogil
    cdef int next_point(self, double *step, double *moved, double *next_coef, double *next_scores) except -1 nogil
    cdef int _newton_step(self, double *step, double *moved) except -1 nogil
