"""The structural bound of the partial AUC, which SVMpAUC-tight minimises (Narasimhan and Agarwal, KDD 2013).

With b(q) the score of the negative at mass q from the top and a window from mass m to mass n,

    Q = mean over the positives i of  max over 0 <= r <= n of  (r - m)_+ + integral from 0 to r of (b(q) - a_i) dq,

divided by n - m. The bracket is concave in r up to m and from there on: its maximum over the first part is where b falls
to a_i, over the second where b falls to a_i - 1. Both places only move down as a_i falls: one sweep finds them all.
"""

from libc.math cimport NAN
from libc.string cimport memset

import numpy as np

from kernbench.pairs._order cimport CLASS_SHIFT, INDEX_BITS, Record
from kernbench.pairs.window import structural_window

cdef extern from "_structural.h" nogil:
    double structural "kb_structural"(const Piece *piece, Py_ssize_t n_top, Py_ssize_t n, const double *a,
                                      const double *t, const double *w, Py_ssize_t n_positive, double *taken,
                                      double *counts)

cdef enum:
    LOWER = 2, MIDDLE = 3       # parts, as in _window.pyx


cdef class StructuralBound(RankedLoss):
    """A convex upper bound of 1 - pAUC over a window of false positive rates, ties counting as misses.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    fpr_range : (float, float), default=(0.0, 1.0)
        (a, b) with 0 <= a < b <= 1.
    ranks : (int, int), optional
        (m, n) with 0 <= m < n, instead of `fpr_range`.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0. All equal by default.
    rounding : {"mass", "integer"}, default="mass"
        How the ends of the window are taken: exactly, or rounded inwards to whole samples as the authors do.

    Attributes
    ----------
    n_samples : int
    low, high : float
        The masses of the negatives between which the window lies.

    Examples
    --------
    >>> from kernbench.pairs import StructuralBound
    >>> bound = StructuralBound([1, 1, -1, -1, -1, -1], fpr_range=(0.25, 0.75))
    >>> bound.upper_and_subgradient([1, 0, 2, 0.5, -1, 0])
    (1.5, array([-0.5 , -0.75,  0.5 ,  0.5 ,  0.  ,  0.25]))
    """

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, sample_weight=None, rounding="mass"):
        low, high = structural_window(y, fpr_range, ranks, sample_weight, rounding)
        if rounding == "integer":
            fpr_range, ranks = (0.0, 1.0), (int(low), int(high))
        self.ranks = WindowPairs(y, fpr_range, ranks=ranks, sample_weight=sample_weight)
        self.n_samples, self.low, self.high = self.ranks.n_samples, self.ranks.low, self.ranks.high
        size = self.ranks.n_negative + 2        # two may be cut in two
        pieces, counts, positives = np.empty(3 * size), np.empty(size + 1), np.empty((4, self.ranks.n_positive))
        self.arrays = (pieces, counts, positives)
        self.pieces = <Piece *> <size_t> pieces.ctypes.data
        self.counts = <double *> <size_t> counts.ctypes.data
        self.a = <double *> <size_t> positives.ctypes.data
        self.t, self.w = self.a + self.ranks.n_positive, self.a + 2 * self.ranks.n_positive
        self.taken = self.a + 3 * self.ranks.n_positive

    cdef double upper(self, const double *scores, double *gradient) noexcept nogil:
        cdef:
            const Record *records = self.ranks.order.records
            Py_ssize_t k, i, n_top, n_pieces, count = 0
            double value, behind = 0.0, scale = self.ranks.scale
        if not self.ranks._sort(scores):
            return NAN
        n_top = self._take(LOWER, 0) if self.ranks.low_mass > 0.0 else 0
        n_pieces = self._take(MIDDLE, n_top)
        for k in range(self.n_samples - 1, -1, -1):
            if records[k].tag >> CLASS_SHIFT:
                i = records[k].tag & INDEX_BITS
                self.a[count], self.t[count] = scores[i], records[k].z
                self.w[count] = 1.0 if self.ranks.weights == NULL else self.ranks.weights[i]
                count += 1
        value = structural(self.pieces, n_top, n_pieces, self.a, self.t, self.w, count, self.taken, self.counts)
        if gradient == NULL:
            return scale * value
        memset(gradient, 0, self.n_samples * sizeof(double))
        count = 0
        for k in range(self.n_samples - 1, -1, -1):
            if records[k].tag >> CLASS_SHIFT:
                gradient[records[k].tag & INDEX_BITS] = -scale * self.w[count] * self.taken[count]
                count += 1
        for k in range(n_pieces - 1, -1, -1):
            behind += self.counts[k + 1]
            gradient[self.pieces[k].sample] += scale * self.pieces[k].mass * behind
        return scale * value

    cdef double lower(self, const double *scores, double *gradient) noexcept nogil:
        if gradient != NULL:
            memset(gradient, 0, self.n_samples * sizeof(double))
        return 0.0 if self.ranks._sort(scores) else NAN

    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil:
        cdef double value = self.upper(scores, g_upper)
        if upper_value != NULL:
            upper_value[0] = value
        if lower_value != NULL:
            lower_value[0] = 0.0
        if g_lower != NULL:
            memset(g_lower, 0, self.n_samples * sizeof(double))
        return value

    cdef double difference(self, const double *scores, double *gradient) noexcept nogil:
        return self.upper(scores, gradient)

    cdef Py_ssize_t _take(self, int part, Py_ssize_t size) noexcept nogil:
        """Append the negatives of a part of the ranks, the highest first; returns how many pieces there are then."""
        cdef Py_ssize_t k
        self.ranks._choose(part)
        for k in range(self.ranks.sums.n - 1, -1, -1):
            if self.ranks.sums.records[k].tag >> CLASS_SHIFT == 0:
                self.pieces[size].sample = self.ranks.sums.records[k].tag & INDEX_BITS
                self.pieces[size].b = self.ranks.sums.records[k].z
                self.pieces[size].mass = 1.0
                if self.ranks.sums.weights != NULL:
                    self.pieces[size].mass = self.ranks.sums.weights[self.pieces[size].sample]
                size += 1
        return size
