"""Sums of a loss over all pairs of sorted scores, in O(n): hinge, squared hinge and logistic loss, with derivatives.

A pair (i, j) is active where its margin falls short of 1, a_i - b_j < 1. With the thresholds t_i = a_i - 1 this reads
b_j > t_i, which is how it is compared everywhere: in floating point the other forms differ where scores are tied.

Sort the thresholds and the negative scores together into z_1 <= z_2 <= ... and write T(z) for the weight of the
thresholds up to z and B(z) for the weight of the negative scores beyond it. Then

    sum_ij w_i w_j (b_j - t_i)_+   = integral T B dz,                                                             (P1)
    sum_ij w_i w_j (b_j - t_i)_+^2 = 2 integral A B dz,   A(z) = integral of T up to z,                           (P2)

and T and B are constant from one z to the next. All terms are sums of products of numbers that are not negative:
nothing cancels, and only differences of scores occur. The derivatives are T, B, A and the integral C(z) of B from z on.

The logistic loss is summed by moments of cells of the scores (``_logistic.h``).
"""

from cython.parallel cimport prange

import numpy as np

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS
from kernbench.pairs.chebyshev import interactions

cdef extern from "_sweeps.h" nogil:
    enum:
        STRETCH "KB_STRETCH"
    void masses "kb_masses"(const Record *a, Py_ssize_t n, const double *w, Outside *mass)
    double hinge "kb_hinge"(const Record *a, Py_ssize_t n, const double *w, const Outside *outside, double scale,
                            double *gradient)
    void areas "kb_areas"(const Record *a, Py_ssize_t n, const double *w, const Outside *outside, Outside *area)
    double squared_hinge "kb_squared_hinge"(const Record *a, Py_ssize_t n, const double *w, const Outside *outside,
                                            double scale, double *gradient)
    void gather "kb_gather"(const Record *a, Py_ssize_t n, const double *w, const double *v, double *sorted,
                            Outside *sums)
    void hessian "kb_hessian"(const Record *a, Py_ssize_t n, const double *w, const Outside *outside,
                              const double *sorted, double scale, double *product)
    void accumulate "kb_accumulate"(double *sums, Py_ssize_t n, Py_ssize_t stride, bint back)

cdef extern from "_logistic.h" nogil:
    enum:
        TERMS "KB_TERMS"
        NEAR "KB_NEAR"
    double log_loss "kb_log_loss"(const Record *a, Py_ssize_t n, const double *w, Queue *queue, const double *F,
                                  const double *G, double scale, double *gradient)
    void log_loss_product "kb_log_loss_product"(const Record *a, Py_ssize_t n, const double *w, Queue *queue,
                                                const double *H, double scale, const double *v, double *product)

cdef enum:
    THREADED = 65536       # samples that two threads are worth

# Differences of scores beyond which their sums, or the sums of their squares, may overflow.
cdef double WIDEST = 1e307
cdef double WIDEST_SQUARED = 1e150


cdef double margin_of(int loss) noexcept nogil:
    return 0.0 if loss == KB_LOG_LOSS else 1.0


cdef double widest_of(int loss) noexcept nogil:
    return WIDEST if loss == KB_HINGE or loss == KB_LOG_LOSS else WIDEST_SQUARED


cdef class PairSums:
    """Sums over the pairs among sorted records.

    Parameters
    ----------
    capacity : int
        The largest number of records.
    logistic : bool
        Get ready for the logistic loss.
    """

    def __init__(self, Py_ssize_t capacity, bint logistic):
        n_stretches = (capacity + STRETCH - 1) // STRETCH
        outside = np.empty(n_stretches * sizeof(Outside) // sizeof(double))
        values, in_order = np.empty(n_stretches + 1), np.empty(capacity)
        self.arrays = [outside, values, in_order]
        self.outside = <Outside *> <size_t> outside.ctypes.data
        self.values = <double *> <size_t> values.ctypes.data
        self.sorted = <double *> <size_t> in_order.ctypes.data
        if logistic:
            self._prepare_log_loss()

    def _prepare_log_loss(self):
        queue, matrices = np.empty(sizeof(Queue) // sizeof(double)), interactions(NEAR, TERMS)
        self.arrays += [queue, matrices]
        self.queue = <Queue *> <size_t> queue.ctypes.data
        self.interactions = <double *> <size_t> matrices.ctypes.data

    cdef void take(self, const Record *records, Py_ssize_t n, const double *weights, double scale) noexcept nogil:
        self.records, self.n, self.weights, self.scale = records, n, weights, scale
        self.n_stretches = (n + STRETCH - 1) // STRETCH
        self.weighed = False

    cdef double value(self, int loss, double *gradient) noexcept nogil:
        if loss == KB_LOG_LOSS:
            return self.log_loss(gradient)
        return self.hinge(gradient) if loss == KB_HINGE else self.squared_hinge(gradient)

    cdef void product(self, int loss, const double *v, double *product) noexcept nogil:
        if loss == KB_LOG_LOSS:
            self.log_loss_product(v, product)
        else:
            self.squared_hinge_product(v, product)

    cdef double hinge(self, double *gradient) noexcept nogil:
        cdef Py_ssize_t c, n = self.n
        self._weigh()
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            self.values[c] = hinge(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights,
                                   &self.outside[c], self.scale, gradient)
        return self._total()

    cdef double squared_hinge(self, double *gradient) noexcept nogil:
        cdef Py_ssize_t c, n = self.n
        self._weigh()
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            areas(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, &self.outside[c],
                  &self.outside[c])
        self._accumulate(&self.outside.area_below, &self.outside.area_above)
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            self.values[c] = squared_hinge(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights,
                                           &self.outside[c], self.scale, gradient)
        return self._total()

    cdef void squared_hinge_product(self, const double *v, double *product) noexcept nogil:
        cdef Py_ssize_t c, n = self.n
        self._weigh()
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            gather(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, v,
                   self.sorted + c * STRETCH, &self.outside[c])
        self._accumulate(&self.outside.v_below, &self.outside.v_above)
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            hessian(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, &self.outside[c],
                    self.sorted + c * STRETCH, self.scale, product)

    cdef double log_loss(self, double *gradient) noexcept nogil:
        cdef Py_ssize_t size = (2 * NEAR + 1) * TERMS * TERMS
        return log_loss(self.records, self.n, self.weights, self.queue, self.interactions, self.interactions + size,
                        self.scale, gradient)

    cdef void log_loss_product(self, const double *v, double *product) noexcept nogil:
        cdef Py_ssize_t size = (2 * NEAR + 1) * TERMS * TERMS
        log_loss_product(self.records, self.n, self.weights, self.queue, self.interactions + 2 * size, self.scale, v,
                         product)

    cdef void _weigh(self) noexcept nogil:
        """Find the weights outside each stretch."""
        cdef Py_ssize_t c, n = self.n
        if self.weighed:
            return
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            masses(self.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, &self.outside[c])
        self._accumulate(&self.outside.below, &self.outside.above)
        self.weighed = True

    cdef void _accumulate(self, double *below, double *above) noexcept nogil:
        """Turn what the stretches hold into what lies below and above them."""
        cdef Py_ssize_t stride = sizeof(Outside) // sizeof(double)
        accumulate(below, self.n_stretches, stride, False)
        accumulate(above, self.n_stretches, stride, True)

    cdef double _total(self) noexcept nogil:
        """The sum of what the stretches add."""
        self.values[self.n_stretches] = 0.0
        accumulate(self.values, self.n_stretches + 1, 1, False)
        return self.values[self.n_stretches]
