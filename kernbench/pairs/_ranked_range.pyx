"""The mean of one list of losses over a range of ranks (Hu, Ying, Wang and Lyu, NeurIPS 2020), in O(n)."""

from libc.math cimport NAN, fabs
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from kernbench._names import unknown_name
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import REGRESSION_LOSSES
from kernbench.pairs.checks import ranked_targets
from kernbench.pairs.window import TINIEST, range_of

cdef extern from "_losses.h" nogil:
    void list_losses "kb_list_losses"(int loss, const double *y, const double *s, Py_ssize_t n, double *key,
                                      double *value, double *slope)
    double curvature "kb_curvature"(int loss, double key, double slope)
    void find_shares "kb_shares"(const double *key, const double *w, Py_ssize_t n, double threshold, double rest,
                                 double *share)
    double dot_product "kb_dot_product"(const double *x, const double *y, Py_ssize_t n)

cdef extern from "_order.h" nogil:
    bint all_finite "kb_all_finite"(const double *x, Py_ssize_t n)

cdef extern from "_window.h" nogil:
    double find_threshold "kb_threshold"(Record *a, Record *scratch, Py_ssize_t n, const double *w, double mass,
                                         double *above)

# Keys below it rank as 0: the cells of `find_threshold` could not tell any closer ones apart, and it would not end.
cdef double SMALLEST = TINIEST


cdef class RankedRange(RankedLoss):
    """The losses ranked m + 1 to n of one list, the largest being the first: their mean (phi_n - phi_m) / (n - m).

    phi_kappa is the largest sum of u_j loss(y_j, s_j) over 0 <= u_j <= w_j with sum_j u_j = kappa.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, for a loss of the margin y_j s_j; real numbers for one of the residual s_j - y_j.
    ranked_range : (float, float)
        (m, n) with 0 <= m < n <= the sum of the weights.
    loss : {"hinge", "squared_hinge", "log_loss", "squared_error", "absolute_error", "huber", \
"epsilon_insensitive"}, default="log_loss"
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; a sample of weight k counts as k copies. All 1 by default.

    Attributes
    ----------
    n_samples : int
    low, high : float
        m and n.

    Notes
    -----
    Where losses are tied at an end of the range, those of the lower index belong to the upper ranks. Margins and
    residuals below 1e-260 count as tied.

    Examples
    --------
    >>> from kernbench.pairs import RankedRange
    >>> RankedRange([0, 0, 0, 0, 0], (1, 3), loss="absolute_error").value_and_subgradient([5, 1, 4, 2, -3])
    (3.5, array([ 0. ,  0. ,  0.5,  0. , -0.5]))
    """

    def __init__(self, y, ranked_range, *, loss="log_loss", sample_weight=None):
        known = MARGIN_LOSSES | REGRESSION_LOSSES
        if not isinstance(loss, str) or loss not in known:
            raise ValueError(unknown_name("loss", loss, tuple(known)))
        self.loss, self.code = loss, known[loss].code
        y, weights = ranked_targets(y, loss in MARGIN_LOSSES, sample_weight)
        n = self.n_samples = len(y)
        self.total = <double> n if weights is None else weights.sum()
        self.low, self.high = range_of(ranked_range, self.total)
        memory, records = np.empty((5, n)), np.empty((2, 2 * n))
        self.arrays = (y, weights, memory, records)
        self.y = <double *> <size_t> y.ctypes.data
        self.weights = NULL if weights is None else <double *> <size_t> weights.ctypes.data
        self.keys = <double *> <size_t> memory.ctypes.data
        self.losses, self.slopes = self.keys + self.n_samples, self.keys + 2 * self.n_samples
        self.shares[0], self.shares[1] = self.keys + 3 * self.n_samples, self.keys + 4 * self.n_samples
        self.records = <Record *> <size_t> records.ctypes.data
        self.scratch = self.records + self.n_samples

    cdef double upper(self, const double *scores, double *gradient) noexcept nogil:
        if not self._measure(scores):
            return NAN
        self._share(1)
        return self._value(self.shares[1], gradient)

    cdef double lower(self, const double *scores, double *gradient) noexcept nogil:
        if not self._measure(scores):
            return NAN
        self._share(1)      # for Hessian products
        self._share(0)
        return self._value(self.shares[0], gradient)

    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil:
        cdef double above = self.upper(scores, g_upper), below
        if above != above:
            return NAN
        self._share(0)
        below = self._value(self.shares[0], g_lower)
        if upper_value != NULL:
            upper_value[0] = above
        if lower_value != NULL:
            lower_value[0] = below
        return self._difference(NULL)

    cdef double difference(self, const double *scores, double *gradient) noexcept nogil:
        if not self._measure(scores):
            return NAN
        self._share(1)
        self._share(0)
        return self._difference(gradient)

    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil:
        cdef Py_ssize_t i
        cdef double scale = 1.0 / (self.high - self.low)
        for i in range(self.n_samples):
            product[i] = scale * self.shares[1][i] * curvature(self.code, self.keys[i], self.slopes[i]) * v[i]

    cdef bint _measure(self, const double *scores) noexcept nogil:
        """Compute the losses; returns whether the scores are finite, and their distances to the targets."""
        if not all_finite(scores, self.n_samples):
            return False
        list_losses(self.code, self.y, scores, self.n_samples, self.keys, self.losses, self.slopes)
        return all_finite(self.keys, self.n_samples)  # the search for a threshold might not end

    cdef void _share(self, int which) noexcept nogil:
        """Find the shares of the losses in the highest ones, of mass `low` or `high`."""
        cdef:
            Py_ssize_t i, n = self.n_samples
            double mass = self.high if which else self.low, threshold, above = 0.0
        if mass <= 0.0:
            memset(self.shares[which], 0, n * sizeof(double))
            return
        if mass >= self.total:
            if self.weights != NULL:
                memcpy(self.shares[which], self.weights, n * sizeof(double))
                return
            for i in range(n):
                self.shares[which][i] = 1.0
            return
        for i in range(n):
            if fabs(self.keys[i]) < SMALLEST:
                self.keys[i] = 0.0
            self.records[i].z, self.records[i].tag = self.keys[i], <uint64_t> i
        threshold = find_threshold(self.records, self.scratch, n, self.weights, mass, &above)
        find_shares(self.keys, self.weights, n, threshold, mass - above, self.shares[which])

    cdef double _value(self, const double *shares, double *gradient) noexcept nogil:
        cdef Py_ssize_t i
        cdef double scale = 1.0 / (self.high - self.low)
        if gradient != NULL:
            for i in range(self.n_samples):
                gradient[i] = scale * shares[i] * self.slopes[i]
        return scale * dot_product(shares, self.losses, self.n_samples)

    cdef double _difference(self, double *gradient) noexcept nogil:
        """The sum over the range itself; turns the lower shares into those of the range."""
        cdef Py_ssize_t i
        for i in range(self.n_samples):
            self.shares[0][i] = self.shares[1][i] - self.shares[0][i]
        return self._value(self.shares[0], gradient)
