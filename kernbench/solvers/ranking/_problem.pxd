# The risk of the ROC-SVM, for compiled solvers.

from kernbench.pairs._pairs cimport Pairs
from kernbench.solvers.bundle._risk cimport Risk, SmoothedRisk


cdef class PairwiseRisk(Risk):
    cdef readonly object pairwise
    cdef readonly int code               # of the loss (losses.margin)
    cdef Pairs pairs
    cdef const unsigned char[::1] mask   # `positive`
    cdef double _variance(self, const double *scores, unsigned char members) noexcept nogil


cdef class SmoothedPairs(SmoothedRisk):
    cdef int code
    cdef Pairs pairs, narrower           # `narrower` ranks scores with the margin 1 - mu
    cdef const unsigned char[::1] mask
    cdef double[::1] shifted, slopes     # of `narrower`
