# Losses of pairs, for compiled solvers: no Python, no allocation.

from libc.stdint cimport int32_t

from kernbench.ranking._order cimport Record, ScoreOrder

cdef extern from "_sweeps.h" nogil:
    ctypedef struct Outside "kb_outside":
        double below, above
        double area_below, area_above
        double v_below, v_above


# What a solver asks of a set of pairs (i positive, j negative). Every loss is the mean over the pairs (weighted by
# w_i w_j) and a function of the scores s, in the order of the samples; `gradient` may be NULL (value only), otherwise it
# is overwritten. The answer is NaN, and the gradient undefined, where a score is not finite or too large to compute with.
cdef class Pairs:
    cdef readonly Py_ssize_t n_samples
    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil
    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil
    # The generalised Hessian of the squared hinge times v, at the scores of the last call of `hinge` or
    # `squared_hinge`; such a call must have been, and must not have answered NaN.
    cdef void hessian_product(self, const double *v, double *product) noexcept nogil


cdef class AllPairs(Pairs):
    cdef readonly Py_ssize_t n_positive, n_negative
    cdef readonly ScoreOrder order
    cdef object arrays
    cdef const double *weights           # of the samples, in units of a power of two; NULL where all are equal
    cdef double scale                    # 1 over the sum of w_i w_j over the pairs
    cdef Py_ssize_t n_stretches
    cdef Outside *outside                # what lies outside each stretch of the sorted scores
    cdef double *values                  # what each stretch adds to the value
    cdef double *sorted                  # n numbers in the order of the scores

    cdef bint _rank(self, const double *scores) noexcept nogil
    cdef void _accumulate(self, double *below, double *above) noexcept nogil
    cdef double _value(self) noexcept nogil


cdef class DrawnPairs(Pairs):
    cdef readonly Py_ssize_t n_pairs
    cdef object arrays
    cdef const int32_t *first            # the positive samples of the pairs, ascending
    cdef const int32_t *second           # the negative ones
    cdef double *excess                  # (1 - (s_i - s_j))_+ of the pairs at the last call

    cdef double _measure(self, const double *scores, bint squared) noexcept nogil
    cdef void _spread(self, double *gradient, const double *v, bint squared) noexcept nogil
