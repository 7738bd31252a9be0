# A difference of two convex functions of scores, for compiled solvers.

from kernbench.pairs._order cimport Record, ScoreOrder
from kernbench.pairs._sums cimport PairSums

cdef extern from "_window.h" nogil:
    ctypedef struct Cut "kb_cut":
        Py_ssize_t begin, end, whole
        double part


# upper - lower, both normalised by the mass of the range. Every gradient is in the order of the samples, may be NULL, and
# is overwritten. The answer is NaN, and gradients undefined, where scores are not finite or too far apart to compute with.
cdef class RankedLoss:
    cdef readonly Py_ssize_t n_samples
    cdef readonly double low, high       # the masses between which the range lies, in units of the weights
    # The upper part and a subgradient.
    cdef double upper(self, const double *scores, double *gradient) noexcept nogil
    # The lower part and a subgradient; 0 where the range begins at 0.
    cdef double lower(self, const double *scores, double *gradient) noexcept nogil
    # upper - lower and both parts by one sort; the pointers to the parts' values may be NULL, too.
    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil
    # upper - lower and the difference of the subgradients, without cancellation: the sum over the range itself.
    cdef double difference(self, const double *scores, double *gradient) noexcept nogil
    # The generalised Hessian of the upper part of a smooth loss, times v, at the scores of the last call; such a call must
    # have been, and must not have answered NaN.
    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil


cdef class WindowPairs(RankedLoss):
    cdef readonly Py_ssize_t n_positive, n_negative
    cdef readonly object loss
    cdef readonly ScoreOrder order
    cdef int code                        # of the loss (losses.margin)
    cdef PairSums sums
    cdef object arrays
    cdef const double *weights           # of the samples, in units of a power of two; NULL where all are equal
    cdef double *shares                  # weights, those of records that are cut in two replaced
    cdef Record *chosen                  # the positives and the negatives of a range, sorted
    cdef double low_mass, high_mass      # in the units of `weights`; the latter infinite where nothing is cut off
    cdef double scale
    cdef Cut low_cut, high_cut
    cdef Py_ssize_t cut_samples[2]       # whose shares are not their weights; -1 for none
    cdef int part                        # which part `chosen` holds

    cdef bint _sort(self, const double *scores) noexcept nogil
    cdef double _part_value(self, int part, double *gradient) noexcept nogil
    cdef void _choose(self, int part) noexcept nogil
    cdef double _set_share(self, Py_ssize_t k, int which, double share) noexcept nogil
