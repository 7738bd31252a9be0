# Losses of pairs, for compiled solvers: no Python, no allocation.

from libc.stdint cimport int32_t

from kernbench.pairs._order cimport ScoreOrder
from kernbench.pairs._sums cimport PairSums


# What a solver asks of a set of pairs (i positive, j negative). Every loss is the mean over the pairs (weighted by
# w_i w_j) and a function of the scores s, in the order of the samples.
cdef class Pairs:
    cdef readonly Py_ssize_t n_samples
    cdef int loss                        # of the last call
    # The mean of the loss with this code (losses.margin). `gradient` may be NULL (value only), otherwise it is
    # overwritten. The answer is NaN, and the gradient undefined, where a score is not finite or too large to compute with.
    cdef double value(self, int loss, const double *scores, double *gradient) noexcept nogil
    # The generalised Hessian times v at the scores of the last call of `value`, of its loss, of the squared hinge if that
    # was the hinge; such a call must have been, and must not have answered NaN.
    cdef void product(self, const double *v, double *product) noexcept nogil


cdef class AllPairs(Pairs):
    cdef readonly Py_ssize_t n_positive, n_negative
    cdef readonly ScoreOrder order
    cdef PairSums sums
    cdef object arrays
    cdef const double *weights           # of the samples, in units of a power of two; NULL where all are equal
    cdef double scale                    # 1 over the sum of w_i w_j over the pairs


cdef class DrawnPairs(Pairs):
    cdef readonly Py_ssize_t n_pairs
    cdef object arrays
    cdef const int32_t *first            # the positive samples of the pairs, ascending
    cdef const int32_t *second           # the negative ones
    cdef double *excess                  # (1 - (s_i - s_j))_+ at the last call; for the logistic loss s_j - s_i

    cdef void _spread(self, double *gradient, const double *v) noexcept nogil
