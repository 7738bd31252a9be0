# A run of stochastic block coordinate descent, for compiled solvers.

from kernbench.solvers.ranking.stochastic._batches cimport Batches


cdef class SBCD:
    cdef readonly double share
    cdef Batches batches
    cdef double pull, ridge
    cdef double[::1] v, v_sum, anchor, lam, lam_sum, last, slopes
    # Start at w; `linear`, unless NULL, is subtracted from each G.
    cdef void begin(self, const double *w, const double *linear) noexcept nogil
    # Step t of the run on the batch that was drawn; False, and nothing done, if a score is not finite.
    cdef bint step(self, Py_ssize_t t, double eta, double theta) noexcept nogil
    # The mean of the iterates 0 to T - 1; the thresholds become their own.
    cdef void end(self, Py_ssize_t T, double *mean) noexcept nogil
