# A convex risk of scores, for compiled solvers.

from kernbench.solvers.design._design cimport Design


cdef class Risk:
    cdef readonly Design design
    cdef readonly Py_ssize_t n
    cdef readonly double alpha, at_zero      # the risk where all scores are 0
    cdef readonly object positive, weights
    cdef readonly const unsigned char[::1] centred_by  # the classes whose means are removed in the Hessian, or None
    # The risk at these scores, and its (sub)gradient with respect to them unless NULL; NaN if they are too large.
    cdef double risk(self, const double *scores, double *gradient) noexcept nogil
    # Approximate second derivatives of the risk with respect to each score, at least 0.
    cdef int density(self, const double *scores, double *h) except -1 nogil


# A risk with its kinks rounded over a width mu.
cdef class SmoothedRisk(Risk):
    cdef public double mu
    cdef double offset                       # of the cut of the risk with the slopes of the last call of `risk`
    # The second derivative at the scores of the last call of `risk`, times v.
    cdef void hessian_product(self, const double *v, double *product) noexcept nogil


cdef int refuse_nan(double value) except -1 nogil
cdef int answer_signals() except -1 nogil
