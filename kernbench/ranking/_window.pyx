"""Losses over a range of ranks. (First form: by the references, to be replaced.)"""

import numpy as np


cdef class RankedLoss:
    """upper - lower, two convex functions of scores."""

    cdef double upper(self, const double *scores, double *gradient) noexcept nogil:
        with gil:
            return self._call("upper_and_subgradient", scores, gradient)

    cdef double lower(self, const double *scores, double *gradient) noexcept nogil:
        with gil:
            return self._call("lower_and_subgradient", scores, gradient)

    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil:
        cdef double above = self.upper(scores, g_upper), below = self.lower(scores, g_lower)
        if upper_value != NULL:
            upper_value[0] = above
        if lower_value != NULL:
            lower_value[0] = below
        return above - below

    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil:
        with gil:
            self._product(v, product)

    cdef _product(self, const double *v, double *product):
        cdef Py_ssize_t i
        cdef double[::1] copy = np.empty(self.n_samples)
        for i in range(self.n_samples):
            copy[i] = v[i]
        found = self.twin.hessian_product(self.last, np.asarray(copy))
        for i in range(self.n_samples):
            product[i] = found[i]

    cdef double _call(self, name, const double *scores, double *gradient):
        cdef Py_ssize_t i
        cdef double[::1] copy = np.empty(self.n_samples)
        for i in range(self.n_samples):
            copy[i] = scores[i]
        self.last = np.asarray(copy)
        if not np.all(np.isfinite(self.last)):
            return np.nan
        value, g = getattr(self.twin, name)(self.last)
        if gradient != NULL:
            for i in range(self.n_samples):
                gradient[i] = g[i]
        return value

    def upper_and_subgradient(self, scores):
        """The upper part and a subgradient."""
        return self.twin.upper_and_subgradient(scores)

    def lower_and_subgradient(self, scores):
        """The lower part and a subgradient."""
        return self.twin.lower_and_subgradient(scores)

    def value_and_subgradient(self, scores):
        """upper - lower and the difference of their subgradients."""
        return self.twin.value_and_subgradient(scores)

    def hessian_product(self, scores, v):
        """The generalised Hessian of the upper part at `scores`, times v; smooth losses only."""
        return self.twin.hessian_product(scores, v)

    def _take(self, twin):
        self.twin, self.n_samples, self.low, self.high = twin, twin.n_samples, twin.low, twin.high


cdef class WindowPairs(RankedLoss):
    """Pairs of a positive and a negative in a window of ranks."""

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, loss="hinge", sample_weight=None):
        from kernbench.reference.ranking.window import WindowPairs
        self._take(WindowPairs(y, fpr_range, ranks=ranks, loss=loss, sample_weight=sample_weight))


cdef class RankedRange(RankedLoss):
    """The losses of ranks m to n of one list."""

    def __init__(self, y, ranked_range, *, loss="log_loss", sample_weight=None):
        from kernbench.reference.ranking.ranked_range import RankedRange
        self._take(RankedRange(y, ranked_range, loss=loss, sample_weight=sample_weight))


cdef class StructuralBound(RankedLoss):
    """A convex bound of 1 - pAUC."""

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, sample_weight=None, rounding="mass"):
        from kernbench.reference.ranking.structural import StructuralBound
        self._take(StructuralBound(y, fpr_range, ranks=ranks, sample_weight=sample_weight, rounding=rounding))
