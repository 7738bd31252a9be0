"""Hinge, squared hinge and logistic loss of pairs of a positive and a negative score, values and derivatives.

A pair (i, j) is active where its margin falls short of 1, a_i - b_j < 1. With the thresholds t_i = a_i - 1 this reads
b_j > t_i, which is how it is compared everywhere: in floating point the other forms differ where scores are tied.

All pairs at once take one sort, and O(n) after it (``_sums``); a list of pairs is visited pair by pair.
"""

from libc.math cimport NAN, isfinite
from libc.string cimport memset

import numpy as np

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS, margin_slope, margin_value
from kernbench.pairs._order cimport ScoreOrder
from kernbench.pairs._sums cimport PairSums, margin_of, widest_of
from kernbench.losses.pairwise import PAIRWISE_LOSSES, require_loss
from kernbench.pairs.checks import binary_problem, checked_pairs, checked_scores, one_number_each

cdef extern from "_order.h" nogil:
    bint all_finite "kb_all_finite"(const double *x, Py_ssize_t n)

cdef class Pairs:
    """Pairs of a positive and a negative sample: what pairwise solvers minimise over."""

    cdef double value(self, int loss, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef void product(self, const double *v, double *product) noexcept nogil:
        pass

    def mean_loss(self, scores, loss):
        """Mean over the pairs of a loss of s_i - s_j.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
        loss : {"hinge", "squared_hinge", "log_loss"}
            max(0, 1 - t), its square, or log(1 + exp(-t)).

        Returns
        -------
        float
        """
        return self._evaluate(scores, loss, None)

    def value_and_subgradient(self, scores, loss):
        """The mean loss and its (sub)gradient with respect to the scores; pairs at the kink of the hinge do not count.

        Parameters
        ----------
        scores, loss
            See `mean_loss`.

        Returns
        -------
        loss : float
        subgradient : ndarray of shape (n_samples,)
        """
        gradient = np.empty(self.n_samples)
        return self._evaluate(scores, loss, gradient), gradient

    def hessian_product(self, scores, v, loss):
        """The (generalised) Hessian of the mean loss at `scores`, times v.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
        v : array-like of shape (n_samples,)
        loss : {"squared_hinge", "log_loss"}

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        cdef:
            const double[::1] direction = checked_scores(v, self.n_samples, name="v")
            double[::1] product = np.empty(self.n_samples)
        self._evaluate(scores, require_loss(loss, PAIRWISE_LOSSES[1:]), None)
        with nogil:
            self.product(&direction[0], &product[0])
        return np.asarray(product)

    def _evaluate(self, scores, loss, double[::1] gradient):
        cdef:
            const double[::1] s = one_number_each(scores, self.n_samples)
            int code = PAIRWISE_LOSSES.index(require_loss(loss))
            double value
        with nogil:
            value = self.value(code, &s[0], NULL if gradient is None else &gradient[0])
        if not isfinite(value):
            checked_scores(s, self.n_samples)   # says which one is not finite
            raise ValueError("the scores are too far apart for float64 arithmetic: rescale them")
        return value


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

    Notes
    -----
    Scores are sorted in memory of the object: use one object in one thread at a time.

    Examples
    --------
    >>> from kernbench.pairs import AllPairs
    >>> pairs = AllPairs([1, 1, -1, -1, -1])
    >>> loss, slopes = pairs.value_and_subgradient([2, 0.5, 0, 1, 1], "hinge")
    >>> round(loss * 6, 12), slopes * 6
    (3.5, array([-0., -3.,  1.,  1.,  1.]))
    """

    def __init__(self, y, sample_weight=None):
        positive, weights = binary_problem(y, sample_weight)
        n = self.n_samples = len(positive)
        self.n_positive = np.count_nonzero(positive)
        self.n_negative = n - self.n_positive
        self.order = ScoreOrder(positive)
        self.sums = PairSums(n, True)
        self.arrays = weights
        if weights is None:
            self.weights = NULL
            self.scale = 1.0 / (<double> self.n_positive * self.n_negative)
        else:
            self.weights = <double *> <size_t> weights.ctypes.data
            self.scale = 1.0 / (weights[positive].sum() * weights[~positive].sum())

    cdef double value(self, int loss, const double *scores, double *gradient) noexcept nogil:
        self.loss = loss
        if not self.order.sort(scores, margin_of(loss)) or self.order.high - self.order.low > widest_of(loss):
            return NAN
        self.sums.take(self.order.records, self.n_samples, self.weights, self.scale)
        return self.sums.value(loss, gradient)

    cdef void product(self, const double *v, double *product) noexcept nogil:
        self.sums.product(self.loss, v, product)


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

    cdef double value(self, int loss, const double *scores, double *gradient) noexcept nogil:
        cdef:
            Py_ssize_t k
            double total = 0.0, excess
        self.loss = loss
        if not all_finite(scores, self.n_samples):
            return NAN
        for k in range(self.n_pairs):
            if loss == KB_LOG_LOSS:
                self.excess[k] = scores[self.second[k]] - scores[self.first[k]]
                total += margin_value(loss, -self.excess[k])
                continue
            excess = scores[self.second[k]] - (scores[self.first[k]] - 1.0)
            excess = excess if excess > 0.0 else 0.0
            self.excess[k] = excess
            total += excess if loss == KB_HINGE else excess * excess
        if gradient != NULL:
            self._spread(gradient, NULL)
        return total / self.n_pairs if isfinite(total) else NAN

    cdef void product(self, const double *v, double *product) noexcept nogil:
        self._spread(product, v)

    cdef void _spread(self, double *gradient, const double *v) noexcept nogil:
        """The mean over pairs of x_k (e_j - e_i); x_k is minus the slope, or the curvature times v_j - v_i."""
        cdef:
            Py_ssize_t k, i, j
            double change, factor = 1.0 if self.loss == KB_LOG_LOSS or (self.loss == KB_HINGE and v == NULL) else 2.0
        memset(gradient, 0, self.n_samples * sizeof(double))
        for k in range(self.n_pairs):
            i, j = self.first[k], self.second[k]
            if self.loss == KB_LOG_LOSS:
                change = -margin_slope(KB_LOG_LOSS, -self.excess[k])
                if v != NULL:
                    change *= (1.0 - change) * (v[j] - v[i])
            else:
                change = 1.0 if self.loss == KB_HINGE else self.excess[k]
                if v != NULL:
                    change = v[j] - v[i]
                change = change if self.excess[k] > 0.0 else 0.0
            gradient[i] -= change
            gradient[j] += change
        for k in range(self.n_samples):
            gradient[k] *= factor / self.n_pairs
