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

from libc.math cimport NAN, isfinite

import numpy as np

from kernbench.ranking._order cimport CLASS_BIT, INDEX_BITS, ScoreOrder
from kernbench.ranking.checks import binary_problem, checked_scores, checked_pairs


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
            const double[::1] s = checked_scores(scores, self.n_samples)
            double[::1] g = np.empty(self.n_samples if gradient else 1)
            double *slopes = &g[0] if gradient else NULL
            double value
        with nogil:
            value = self.squared_hinge(&s[0], slopes) if squared else self.hinge(&s[0], slopes)
        if not isfinite(value):
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
        self.n_samples = len(positive)
        self.n_positive = np.count_nonzero(positive)
        self.n_negative = self.n_samples - self.n_positive
        self.order = ScoreOrder(positive)
        buffer = np.empty(self.n_samples)
        self.arrays = (weights, buffer)
        self.buffer = <double *> <size_t> buffer.ctypes.data
        self.weights = NULL if weights is None else <const double *> <size_t> weights.ctypes.data
        weights = np.ones(self.n_samples) if weights is None else weights
        self.scale = 1.0 / (weights[positive].sum() * weights[~positive].sum())

    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil:
        return self._sweep(scores, gradient, False)

    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil:
        return self._sweep(scores, gradient, True)

    cdef double _sweep(self, const double *scores, double *gradient, bint squared) noexcept nogil:
        cdef:
            Py_ssize_t k, i, n = self.n_samples
            double *z = self.order.z
            double weight, gap, above = 0.0, integral_above = 0.0, below = 0.0, integral_below = 0.0, value = 0.0
        if not self.order.sort(scores, 1.0):
            return NAN
        for k in range(n - 1, -1, -1):
            i = self.order.tag[k] & INDEX_BITS
            weight = 1.0 if self.weights == NULL else self.weights[i]
            gap = z[k + 1] - z[k] if k + 1 < n else 0.0
            integral_above += gap * above
            self.buffer[k] = above
            if not self.order.tag[k] & CLASS_BIT:
                above += weight
            elif gradient != NULL:
                gradient[i] = -weight * (2 * integral_above if squared else above) * self.scale
        for k in range(n):
            i = self.order.tag[k] & INDEX_BITS
            weight = 1.0 if self.weights == NULL else self.weights[i]
            gap = z[k + 1] - z[k] if k + 1 < n else 0.0
            if self.order.tag[k] & CLASS_BIT:
                below += weight
            elif gradient != NULL:
                gradient[i] = weight * (2 * integral_below if squared else below) * self.scale
            if squared:
                value += self.buffer[k] * gap * (2 * integral_below + below * gap)
            else:
                value += self.buffer[k] * below * gap
            integral_below += gap * below
        return value * self.scale

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        cdef:
            Py_ssize_t k, i, n = self.n_samples
            double weight, count = 0.0, total = 0.0
        for k in range(n - 1, -1, -1):
            i = self.order.tag[k] & INDEX_BITS
            weight = 1.0 if self.weights == NULL else self.weights[i]
            if self.order.tag[k] & CLASS_BIT:
                product[i] = 2 * weight * (count * v[i] - total) * self.scale
            else:
                count += weight
                total += weight * v[i]
        count = total = 0.0
        for k in range(n):
            i = self.order.tag[k] & INDEX_BITS
            weight = 1.0 if self.weights == NULL else self.weights[i]
            if self.order.tag[k] & CLASS_BIT:
                count += weight
                total += weight * v[i]
            else:
                product[i] = 2 * weight * (count * v[i] - total) * self.scale


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
        differences = np.empty(len(first))
        self.n_samples, self.n_pairs = n_samples, len(first)
        self.arrays = (first, second, differences)
        self.first = <const int32_t *> <size_t> first.ctypes.data
        self.second = <const int32_t *> <size_t> second.ctypes.data
        self.differences = <double *> <size_t> differences.ctypes.data

    cdef double hinge(self, const double *scores, double *gradient) noexcept nogil:
        return self._sweep(scores, gradient, False)

    cdef double squared_hinge(self, const double *scores, double *gradient) noexcept nogil:
        return self._sweep(scores, gradient, True)

    cdef double _sweep(self, const double *scores, double *gradient, bint squared) noexcept nogil:
        cdef:
            Py_ssize_t k
            double value = 0.0, excess, slope, scale = 1.0 / self.n_pairs
        if gradient != NULL:
            for k in range(self.n_samples):
                gradient[k] = 0.0
        for k in range(self.n_pairs):
            excess = scores[self.second[k]] - (scores[self.first[k]] - 1.0)
            excess = excess if not excess <= 0.0 else 0.0
            if squared:
                self.differences[k] = excess
            value += excess * excess if squared else excess
            if gradient != NULL and excess > 0.0:
                slope = 2.0 * scale * excess if squared else scale
                gradient[self.first[k]] -= slope
                gradient[self.second[k]] += slope
        return value * scale

    cdef void hessian_product(self, const double *v, double *product) noexcept nogil:
        cdef:
            Py_ssize_t k
            double change, scale = 2.0 / self.n_pairs
        for k in range(self.n_samples):
            product[k] = 0.0
        for k in range(self.n_pairs):
            if self.differences[k] > 0.0:
                change = scale * (v[self.second[k]] - v[self.first[k]])
                product[self.first[k]] -= change
                product[self.second[k]] += change
