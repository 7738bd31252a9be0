# The mean of smoothed losses over samples, for compiled solvers.

from kernbench.solvers.bundle._risk cimport Risk


cdef class EnvelopeRisk(Risk):
    cdef double mu                           # width of the smoothing; 0 for the loss itself
    cdef int loss
    cdef double parameter
    cdef const double[::1] y, targets
    cdef double[::1] shares                  # w_i / n
    # For mu > 0, the mean loss without smoothing; `excess` becomes the sum of the Fenchel-Young losses at the slopes of the envelope.
    cdef double exact(self, const double *scores, double *excess) noexcept nogil
    # The constant that, added to all scores, minimises the risk.
    cdef double best_shift(self, const double *scores) noexcept nogil
