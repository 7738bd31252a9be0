"""Hinge and squared hinge of pairs of a positive and a negative score, values and derivatives.

A pair (i, j) is active where its margin falls short of 1, a_i - b_j < 1. With the thresholds t_i = a_i - 1 this reads
b_j > t_i, which is how it is compared everywhere: in floating point the other forms differ where scores are tied.

All pairs at once, in O(n log n). Sort the thresholds and the negative scores together into z_1 <= z_2 <= ... and write
T(z) for the weight of the thresholds up to z and B(z) for the weight of the negative scores beyond it. Then

    sum_ij w_i w_j (b_j - t_i)_+   = integral T B dz,                                                             (P1)
    sum_ij w_i w_j (b_j - t_i)_+^2 = 2 integral A B dz,   A(z) = integral of T up to z,                           (P2)

and T and B are constant from one z to the next. All terms are sums of products of numbers that are not negative:
nothing cancels, and only differences of scores occur. The derivatives are T, B, A and the integral C(z) of B from z on.
"""

from cython.parallel cimport prange
from libc.math cimport NAN, isfinite
from libc.string cimport memset

import numpy as np

from kernbench.ranking._order cimport Record, ScoreOrder
from kernbench.ranking.checks import binary_problem, checked_pairs, checked_scores, one_number_each

cdef extern from "_order.h" nogil:
    bint all_finite "kb_all_finite"(const double *x, Py_ssize_t n)

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

cdef enum:
    THREADED = 65536       # samples that two threads are worth

# Differences of scores beyond which their sums, or the sums of their squares, may overflow.
cdef double WIDEST = 1e307
cdef double WIDEST_SQUARED = 1e150


cdef class Pairs:
    """Pairs of a positive and a negative sample: what pairwise solvers minimise over."""

    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        pass

    def _evaluate(self, scores, bint squared, bint gradient):
        cdef:
            const double[::1] s = one_number_each(scores, self.n_samples)
            double[::1] g = np.empty(self.n_samples if gradient else 1)
            double *slopes = &g[0] if gradient else NULL
            double value
        with nogil:
            value = self.squared_hinge(&s[0], slopes) if squared else self.hinge(&s[0], slopes)
        if not isfinite(value):
            checked_scores(s, self.n_samples)   # says which one is not finite
            raise ValueError("the scores are too far apart for float64 arithmetic: rescale them")
        return (value, np.asarray(g)) if gradient else value

    def hinge_loss(self, scores):
        """Mean of max(0, 1 - (s_i - s_j)) over the pairs.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        float
        """
        return self._evaluate(scores, False, False)

    def hinge_loss_and_subgradient(self, scores):
        """The mean hinge and its subgradient with respect to the scores, pairs at the kink not counted.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        loss : float
        subgradient : ndarray of shape (n_samples,)
        """
        return self._evaluate(scores, False, True)

    def squared_hinge_loss(self, scores):
        """Mean of max(0, 1 - (s_i - s_j))^2 over the pairs.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        float
        """
        return self._evaluate(scores, True, False)

    def squared_hinge_loss_and_gradient(self, scores):
        """The mean squared hinge and its gradient with respect to the scores.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        loss : float
        gradient : ndarray of shape (n_samples,)
        """
        return self._evaluate(scores, True, True)

    def squared_hinge_hessian_product(self, scores, v):
        """The generalised Hessian of the mean squared hinge at `scores`, times v.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
        v : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        cdef:
            const double[::1] direction = checked_scores(v, self.n_samples, name="v")
            double[::1] product = np.empty(self.n_samples)
        self._evaluate(scores, True, False)
        with nogil:
            self.hessian_product(&direction[0], &product[0])
        return np.asarray(product)


cdef class AllPairs(Pairs):
    """Every pair of a positive and a negative sample, none of them listed.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; the pair (i, j) weighs w_i w_j. All equal by default.

    Attributes
    ----------
    n_samples, n_positive, n_negative : int

    Examples
    --------
    >>> pairs = AllPairs([1, 1, -1, -1, -1])
    >>> loss, slopes = pairs.hinge_loss_and_subgradient([2, 0.5, 0, 1, 1])
    >>> loss * 6, slopes * 6
    (3.5, array([-0., -3.,  1.,  1.,  1.]))
    """

    def __init__(self, y, sample_weight=None):
        positive, weights = binary_problem(y, sample_weight)
        n = self.n_samples = len(positive)
        self.n_positive = np.count_nonzero(positive)
        self.n_negative = n - self.n_positive
        self.order = ScoreOrder(positive)
        self.n_stretches = -(-n // STRETCH)
        outside = np.empty(self.n_stretches * sizeof(Outside) // sizeof(double))
        values, in_order = np.empty(self.n_stretches + 1), np.empty(n)
        self.arrays = (weights, outside, values, in_order)
        self.outside = <Outside *> <size_t> outside.ctypes.data
        self.values = <double *> <size_t> values.ctypes.data
        self.sorted = <double *> <size_t> in_order.ctypes.data
        if weights is None:
            self.weights = NULL
            self.scale = 1.0 / (<double> self.n_positive * self.n_negative)
        else:
            self.weights = <double *> <size_t> weights.ctypes.data
            self.scale = 1.0 / (weights[positive].sum() * weights[~positive].sum())

    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t c, n = self.n_samples
        if not self._rank(scores) or self.order.high - self.order.low > WIDEST:
            return NAN
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            self.values[c] = hinge(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights,
                                   &self.outside[c], self.scale, gradient)
        return self._value()

    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t c, n = self.n_samples
        if not self._rank(scores) or self.order.high - self.order.low > WIDEST_SQUARED:
            return NAN
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            areas(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights,
                  &self.outside[c], &self.outside[c])
        self._accumulate(&self.outside.area_below, &self.outside.area_above)
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            self.values[c] = squared_hinge(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH),
                                           self.weights, &self.outside[c], self.scale, gradient)
        return self._value()

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        cdef Py_ssize_t c, n = self.n_samples
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            gather(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, v,
                   self.sorted + c * STRETCH, &self.outside[c])
        self._accumulate(&self.outside.v_below, &self.outside.v_above)
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            hessian(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, &self.outside[c],
                    self.sorted + c * STRETCH, self.scale, product)

    cdef bint _rank(self, const double *scores) noexcept nogil:
        """Sort, and find the weights outside each stretch; returns whether the scores are finite."""
        cdef Py_ssize_t c, n = self.n_samples
        if not self.order.sort(scores, 1.0):
            return False
        for c in prange(self.n_stretches, schedule="static", use_threads_if=n >= THREADED):
            masses(self.order.records + c * STRETCH, min(STRETCH, n - c * STRETCH), self.weights, &self.outside[c])
        self._accumulate(&self.outside.below, &self.outside.above)
        return True

    cdef void _accumulate(self, double *below, double *above) noexcept nogil:
        """Turn what the stretches hold into what lies below and above them."""
        cdef Py_ssize_t stride = sizeof(Outside) // sizeof(double)
        accumulate(below, self.n_stretches, stride, False)
        accumulate(above, self.n_stretches, stride, True)

    cdef double _value(self) noexcept nogil:
        """The sum of what the stretches add."""
        self.values[self.n_stretches] = 0.0
        accumulate(self.values, self.n_stretches + 1, 1, False)
        return self.values[self.n_stretches]


cdef class DrawnPairs(Pairs):
    """A list of pairs, repeats counted: the incomplete U-statistic (draw them with `draw_pairs`).

    Parameters
    ----------
    first, second : array-like of shape (n_pairs,), int
        Indices of the positive and of the negative sample of each pair.
    n_samples : int

    Attributes
    ----------
    n_samples, n_pairs : int
    """

    def __init__(self, first, second, n_samples):
        first, second = checked_pairs(first, second, n_samples)
        by_first = np.argsort(first, kind="stable")   # neighbours in the list are neighbours in memory
        first, second = first[by_first], second[by_first]
        excess = np.empty(len(first))
        self.n_samples, self.n_pairs = n_samples, len(first)
        self.arrays = (first, second, excess)
        self.first = <const int32_t *> <size_t> first.ctypes.data
        self.second = <const int32_t *> <size_t> second.ctypes.data
        self.excess = <double *> <size_t> excess.ctypes.data

    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil:
        cdef double value = self._measure(scores, False)
        if gradient != NULL:
            self._spread(gradient, NULL, False)
        return value

    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil:
        cdef double value = self._measure(scores, True)
        if gradient != NULL:
            self._spread(gradient, NULL, True)
        return value

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        self._spread(product, v, True)

    cdef double _measure(self, const double *scores, bint squared) noexcept nogil:
        """Find how far each pair falls short; returns the mean loss."""
        cdef:
            Py_ssize_t k
            double value = 0.0, excess
        if not all_finite(scores, self.n_samples):
            return NAN
        for k in range(self.n_pairs):
            excess = scores[self.second[k]] - (scores[self.first[k]] - 1.0)
            excess = excess if excess > 0.0 else 0.0
            self.excess[k] = excess
            value += excess * excess if squared else excess
        return value / self.n_pairs if isfinite(value) else NAN

    cdef void _spread(self, double *gradient, const double *v, bint squared) noexcept nogil:
        """The mean over active pairs of x_k (e_j - e_i); x_k is 1, twice the excess, or 2 (v_j - v_i) if v is given."""
        cdef:
            Py_ssize_t k, i, j
            double change
        memset(gradient, 0, self.n_samples * sizeof(double))
        for k in range(self.n_pairs):
            i, j = self.first[k], self.second[k]
            change = self.excess[k] if squared else 1.0
            if v != NULL:
                change = v[j] - v[i]
            change = change if self.excess[k] > 0.0 else 0.0
            gradient[i] -= change
            gradient[j] += change
        for k in range(self.n_samples):
            gradient[k] *= (2.0 if squared else 1.0) / self.n_pairs
