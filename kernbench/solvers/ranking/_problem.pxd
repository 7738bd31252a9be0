# The problem of the ROC-SVM, for compiled solvers.

from kernbench.ranking._pairs cimport Pairs
from kernbench.solvers._design cimport Design


cdef class PairwiseProblem:
    cdef readonly Design design
    cdef readonly Py_ssize_t n
    cdef readonly double alpha
    cdef readonly bint squared, balanced
    cdef readonly object loss, positive, weights, drawn
    cdef Pairs pairs
    cdef const unsigned char[::1] mask   # `positive`
    # The mean loss at these scores, and its (sub)gradient with respect to them unless NULL; NaN if they are too large.
    cdef double risk(self, const double *scores, double *gradient) noexcept nogil
    cdef int density(self, const double *scores, double *h) except -1 nogil
    cdef double _variance(self, const double *scores, unsigned char members) noexcept nogil


cdef int refuse_nan(double value) except -1 nogil
cdef int answer_signals() except -1 nogil
