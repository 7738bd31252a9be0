# Risks of a range of ranks, for compiled solvers.

from kernbench.pairs._window cimport RankedLoss
from kernbench.solvers.bundle._risk cimport Risk


cdef class RankedRisk(Risk):
    cdef readonly object ranked
    cdef RankedLoss losses
    cdef object origin                   # scores that are added to those of f, or None
    cdef bint origin_is_zero
    cdef double[::1] start, shifted      # the same; working memory
    cdef double[::1] slopes              # g of the linear part
    cdef const double[::1] sides
    cdef double constant                 # of the linear part
    # U - L at these scores and its slopes; `linearise` moves the linear part of the risk there.
    cdef double window(self, const double *scores, double *gradient) noexcept nogil
    cdef double linearise(self, const double *scores) noexcept nogil
    cdef const double *_moved(self, const double *scores) noexcept nogil
    cdef double _spread(self, const double *scores) noexcept nogil
