"""Losses over a range of ranks, as differences of two convex functions of the scores.

phi_kappa is the largest sum of losses that a mass kappa can have: the sum over the highest losses, the last of them in
part. It is a maximum of convex functions, hence convex, and a range from mass m to mass n has the sum phi_n - phi_m.

For pairs of a positive and a negative the loss rises with the negative's score, so that the same negatives are the
highest for every positive: one sort finds them, and what is left are sums over all pairs of a part of the records.
"""

from libc.math cimport INFINITY, NAN, isfinite
from libc.string cimport memset

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.pairs._order cimport INDEX_BITS
from kernbench.pairs._sums cimport margin_of, widest_of
from kernbench.pairs.checks import binary_problem, checked_scores, one_number_each
from kernbench.pairs.window import window_of

cdef extern from "_window.h" nogil:
    Cut no_cut "kb_no_cut"(Py_ssize_t at)
    Cut find_cut "kb_find_cut"(const Record *a, Py_ssize_t n, const double *w, double mass)
    Py_ssize_t copy_range "kb_copy_range"(const Record *a, Py_ssize_t n, Cut low, Cut high, Record *to)

cdef enum:
    NOTHING, UPPER, LOWER, MIDDLE      # parts of a range


cdef class RankedLoss:
    """upper - lower, two convex functions of the scores."""

    cdef double upper(self, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef double lower(self, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil:
        return NAN

    cdef double difference(self, const double *scores, double *gradient) noexcept nogil:
        return NAN

    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil:
        memset(product, 0, self.n_samples * sizeof(double))

    def upper_and_subgradient(self, scores):
        """The upper part: phi of the whole mass up to the end of the range, normalised, and a subgradient.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        value : float
        subgradient : ndarray of shape (n_samples,)
        """
        return self._evaluate(scores, 0)

    def lower_and_subgradient(self, scores):
        """The lower part: phi of the mass before the range, normalised, and a subgradient.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        value : float
            0 where the range begins at 0.
        subgradient : ndarray of shape (n_samples,)
        """
        return self._evaluate(scores, 1)

    def value_and_subgradient(self, scores):
        """The mean loss over the range, upper - lower, and the difference of the parts' subgradients.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        value : float
        subgradient : ndarray of shape (n_samples,)
        """
        return self._evaluate(scores, 2)

    def parts(self, scores):
        """Both parts by one sort.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)

        Returns
        -------
        upper, lower : float
        upper_subgradient, lower_subgradient : ndarray of shape (n_samples,)
        """
        cdef:
            const double[::1] s = one_number_each(scores, self.n_samples)
            double[::1] g = np.empty(self.n_samples), h = np.empty(self.n_samples)
            double value, above = 0.0, below = 0.0
        with nogil:
            value = self.window(&s[0], &above, &below, &g[0], &h[0])
        self._require(value, s)
        return above, below, np.asarray(g), np.asarray(h)

    def hessian_product(self, scores, v):
        """The generalised Hessian of the upper part at `scores`, times v.

        For the hinge of `WindowPairs` it is that of its square, for other piecewise linear functions 0.

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
        self._evaluate(scores, 0)
        with nogil:
            self.upper_hessian_product(&direction[0], &product[0])
        return np.asarray(product)

    def _evaluate(self, scores, int which):
        cdef:
            const double[::1] s = one_number_each(scores, self.n_samples)
            double[::1] g = np.empty(self.n_samples)
            double value
        with nogil:
            if which == 0:
                value = self.upper(&s[0], &g[0])
            elif which == 1:
                value = self.lower(&s[0], &g[0])
            else:
                value = self.difference(&s[0], &g[0])
        self._require(value, s)
        return value, np.asarray(g)

    def _require(self, double value, scores):
        if not isfinite(value):
            checked_scores(scores, self.n_samples)      # says which one is not finite
            raise ValueError("the scores are too far apart for float64 arithmetic: rescale them")


cdef class WindowPairs(RankedLoss):
    """Pairs of a positive and a negative in a window of false positive rates, none of them listed.

    The mean over the window [a, b] is (phi_Wb - phi_Wa) / (W+ W (b - a)), where phi_kappa is the largest sum of
    w_i u_j loss(s_i - s_j) over 0 <= u_j <= w_j with sum_j u_j = kappa, and W+ and W are the weights of the classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    fpr_range : (float, float), default=(0.0, 1.0)
        (a, b) with 0 <= a < b <= 1.
    ranks : (int, int), optional
        (m, n) with 0 <= m < n, instead of `fpr_range`: the negatives ranked m + 1 to n, or so much of their weight.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; a sample of weight k counts as k copies. All equal by default.

    Attributes
    ----------
    n_samples, n_positive, n_negative : int
    low, high : float
        The masses of the negatives between which the window lies.

    Notes
    -----
    Where negatives are tied at an end of the window, those of the lower index belong to the upper ranks. Scores are
    sorted in memory of the object: use one object in one thread at a time.

    Examples
    --------
    >>> from kernbench.pairs import WindowPairs
    >>> window = WindowPairs([1, 1, -1, -1, -1, -1], fpr_range=(0.25, 0.75))
    >>> window.value_and_subgradient([1, 0, 2, 0.5, -1, 0])
    (0.75, array([-0.25, -0.5 ,  0.  ,  0.5 ,  0.  ,  0.25]))
    """

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, loss="hinge", sample_weight=None):
        self.loss, self.code = margin_loss(loss).name, margin_loss(loss).code
        self.low, self.high = window_of(y, fpr_range, ranks, sample_weight)
        positive, weights = binary_problem(y, sample_weight)
        n = self.n_samples = len(positive)
        self.n_positive = np.count_nonzero(positive)
        self.n_negative = n - self.n_positive
        self.order, self.sums = ScoreOrder(positive), PairSums(n, self.loss == "log_loss")
        self.part = NOTHING
        self.cut_samples[0] = self.cut_samples[1] = -1
        total, unit = float(self.n_negative), 1.0           # of the weights as they are held here
        if sample_weight is not None:
            given = np.asarray(sample_weight, dtype=np.float64)[~positive]
            total = given.sum()
            unit = given.max() if weights is None else given.max() / weights[~positive].max()
        self.low_mass, self.high_mass = self.low / unit, self.high / unit
        positive_weight = <double> self.n_positive if weights is None else weights[positive].sum()
        self.scale = 1.0 / (positive_weight * (self.high_mass - self.low_mass))
        if self.high >= total:
            self.high_mass = INFINITY
        shares = np.ones(n) if weights is None else weights.copy()
        chosen = np.empty(2 * (n + 1))
        self.arrays = (weights, shares, chosen)
        self.weights = NULL if weights is None else <double *> <size_t> weights.ctypes.data
        self.shares = <double *> <size_t> shares.ctypes.data
        self.chosen = <Record *> <size_t> chosen.ctypes.data

    cdef double upper(self, const double *scores, double *gradient) noexcept nogil:
        return self._part_value(UPPER, gradient) if self._sort(scores) else NAN

    cdef double lower(self, const double *scores, double *gradient) noexcept nogil:
        return self._part_value(LOWER, gradient) if self._sort(scores) else NAN

    cdef double difference(self, const double *scores, double *gradient) noexcept nogil:
        return self._part_value(MIDDLE, gradient) if self._sort(scores) else NAN

    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil:
        cdef Py_ssize_t i
        cdef double value, below = 0.0
        if not self._sort(scores):
            return NAN
        if upper_value != NULL or lower_value != NULL or g_upper != NULL or g_lower != NULL:
            # The subgradient of the upper part is the lower one's and what the range adds.
            below = self._part_value(LOWER, g_lower)
        value = self._part_value(MIDDLE, g_upper if g_lower != NULL else NULL)
        if g_upper != NULL and g_lower != NULL:
            for i in range(self.n_samples):
                g_upper[i] += g_lower[i]
        elif g_upper != NULL:
            self._part_value(UPPER, g_upper)
        if upper_value != NULL:
            upper_value[0] = below + value
        if lower_value != NULL:
            lower_value[0] = below
        return value

    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil:
        self._choose(UPPER)
        memset(product, 0, self.n_samples * sizeof(double))
        self.sums.product(self.code, v, product)

    cdef bint _sort(self, const double *scores) noexcept nogil:
        """Sort, and find where the range begins and ends; returns whether the scores can be computed with."""
        cdef Py_ssize_t n = self.n_samples
        self.part = NOTHING
        if (not self.order.sort(scores, margin_of(self.code))
                or self.order.high - self.order.low > widest_of(self.code)):
            return False
        self.low_cut, self.high_cut = no_cut(n), no_cut(0)
        if self.low_mass > 0.0:
            self.low_cut = find_cut(self.order.records, n, self.weights, self.low_mass)
        if self.high_mass < INFINITY:
            self.high_cut = find_cut(self.order.records, n, self.weights, self.high_mass)
        return True

    cdef double _part_value(self, int part, double *gradient) noexcept nogil:
        """The value of a part of the range at the scores sorted last, and its subgradient."""
        if gradient != NULL:
            memset(gradient, 0, self.n_samples * sizeof(double))
        if part == LOWER and self.low_mass == 0.0:
            return 0.0
        self._choose(part)
        return self.sums.value(self.code, gradient)

    cdef void _choose(self, int part) noexcept nogil:
        """Hand the records of a part to the sums, with the shares of those that are cut in two."""
        cdef:
            Py_ssize_t n = self.n_samples, k, size
            const Record *records = self.order.records
            Cut low = no_cut(n) if part != MIDDLE else self.low_cut
            Cut high = self.high_cut if part != LOWER else self.low_cut
            Py_ssize_t low_at = low.begin + low.whole, high_at = high.begin + high.whole
            double unit
        if part == self.part:
            return
        self.part = part
        for k in range(2):
            if self.cut_samples[k] >= 0:
                unit = 1.0 if self.weights == NULL else self.weights[self.cut_samples[k]]
                self.shares[self.cut_samples[k]], self.cut_samples[k] = unit, -1
        if low.part > 0.0:
            self._set_share(low_at, 0, -low.part)
        if high.part > 0.0:
            if low.part > 0.0 and low_at == high_at:
                self._set_share(high_at, 1, high.part - low.part)
            else:
                self._set_share(high_at, 1, high.part)
        if low.begin == n and high.end == 0:
            size = n
        else:
            size, records = copy_range(records, n, low, high, self.chosen), self.chosen
        if self.cut_samples[0] < 0 and self.cut_samples[1] < 0:
            self.sums.take(records, size, self.weights, self.scale)
        else:
            self.sums.take(records, size, self.shares, self.scale)

    cdef double _set_share(self, Py_ssize_t k, int which, double share) noexcept nogil:
        """Set the share of record k; a negative one is taken off its weight."""
        cdef Py_ssize_t i = self.order.records[k].tag & INDEX_BITS
        self.cut_samples[which] = i
        self.shares[i] = self.shares[i] + share if share < 0.0 else share
        return self.shares[i]
