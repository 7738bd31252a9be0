# Losses of pairs, for compiled solvers: no Python, no allocation.

from libc.stdint cimport int32_t

from kernbench.ranking._order cimport ScoreOrder


# What a solver asks of a set of pairs (i positive, j negative). Every loss is the mean over the pairs (weighted by
# w_i w_j) and a function of the scores s, in the order of the samples; `gradient` may be NULL (value only), otherwise it
# is overwritten. The answer is NaN, and the gradient undefined, where a score is not finite or too large to compute with.
cdef class Pairs:
    cdef readonly Py_ssize_t n_samples
    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil
    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil
    # The generalised Hessian of the squared hinge, at the scores of the last call of `squared_hinge`, times v.
    # Must not be asked before such a call, nor after one that answered NaN.
    cdef void hessian_product(self, const double *v, double *product) noexcept nogil


cdef class AllPairs(Pairs):
    cdef readonly Py_ssize_t n_positive, n_negative
    cdef readonly ScoreOrder order
    cdef readonly object arrays
    cdef const double *weights           # of the samples, in units of a power of two; NULL where all are equal
    cdef double scale                    # 1 over the sum of w_i w_j over the pairs
    cdef double *buffer                  # n numbers
    cdef double _sweep(self, const double *scores, double *gradient, bint squared) noexcept nogil


cdef class DrawnPairs(Pairs):
    cdef readonly Py_ssize_t n_pairs
    cdef readonly object arrays
    cdef const int32_t *first            # the positive samples of the pairs
    cdef const int32_t *second           # the negative ones
    cdef double *differences             # 1 - (s_i - s_j) of the pairs at the last call of `squared_hinge`
    cdef double _sweep(self, const double *scores, double *gradient, bint squared) noexcept nogil
