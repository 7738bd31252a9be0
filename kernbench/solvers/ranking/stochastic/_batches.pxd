# Batches of rows and the stochastic subgradients at them, for compiled solvers.

from libc.stdint cimport int32_t

from kernbench.pairs._order cimport ScoreOrder
from kernbench.solvers.design._design cimport FeatureDesign


# Places in a population of samples, drawn uniformly without replacement: O(batch) each.
cdef class PopulationDraws:
    cdef readonly Py_ssize_t size, batch
    cdef int32_t[::1] order, swapped
    cdef const int32_t[::1] rows
    cdef const double[::1] weights
    cdef void draw(self, const double *u, Py_ssize_t *places, Py_ssize_t *rows, double *weights) noexcept nogil


# A batch: its rows, their scores and weights, and the coefficients of the subgradient sum_k coef_k x_k.
cdef class Batches:
    cdef readonly object sampling
    cdef readonly Py_ssize_t size, n_thresholds, n_touched, n_ranked
    cdef readonly FeatureDesign design
    cdef int loss
    cdef Py_ssize_t[::1] rows, places
    cdef double[::1] scores, u, coef
    cdef double[::1] all_weights         # of all samples: 0 for those, beyond the n_ranked, that are not ranked
    cdef ScoreOrder order                # of all samples
    cdef void draw(self, const double *u) noexcept nogil
    # Compute the scores of the batch at v; False if one is not finite.
    cdef bint score(self, const double *v) noexcept nogil
    # v += size * sum_k coef_k x_k
    cdef void add_rows(self, double size, double *v) noexcept nogil
    # From the scores: `coef` of G, and the derivatives in the `n_touched` thresholds of the batch.
    cdef void subgradients(self, const double *lam, double share, double *slopes) noexcept nogil
    cdef Py_ssize_t touched(self, Py_ssize_t k) noexcept nogil
    # Sort by the scores of all samples, then ask for exact thresholds; False if a score is not finite.
    cdef bint rank(self, const double *scores) noexcept nogil
    cdef double exact_threshold(self, double share) noexcept nogil


cdef class PairBatches(Batches):
    cdef PopulationDraws positives, negatives
    cdef readonly bint one_threshold
    # The negatives that count, padded; their places in the batch; scratch and sums of _pair_slopes.h
    cdef double[::1] b, u_j, p, q, tau, row, count, col
    cdef Py_ssize_t[::1] chosen
    cdef void pair_sums(self, Py_ssize_t n_chosen, double scale) noexcept nogil


cdef class ListBatches(Batches):
    cdef PopulationDraws population
    cdef bint of_margin
    cdef const double[::1] y
    cdef double[::1] losses
    cdef double _value(self, double y, double s) noexcept nogil
