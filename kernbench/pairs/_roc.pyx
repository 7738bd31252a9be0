"""Area under the ROC curve, all of it or over a range of false positive rates, in one sweep over the sorted scores.

Lowering the threshold past the scores of one value adds the weight dx of its negatives and dy of its positives: a
straight piece of the curve from (x, y) to (x + dx, y + dy). Ties are therefore sloping pieces, which count half, and
the ends of a range may fall anywhere on a piece. Without weights all sums are integers or halves, exact in float64 up
to n = 10^8, except for the two pieces that a range cuts.
"""

import numpy as np

from kernbench.pairs._order cimport CLASS_SHIFT, INDEX_BITS, Record, ScoreOrder
from kernbench.pairs.checks import checked_scores

cdef enum:
    BLOCK = 4096    # records between two compensated additions


cdef struct Sum:
    double total, lost      # what the blocks so far add up to, and what rounding took from it
    double block


cdef inline double now(const Sum *s) noexcept nogil:
    return s.total + (s.lost + s.block)


cdef inline void close_block(Sum *s) noexcept nogil:
    cdef double total = s.total + s.block, shift = total - s.total
    s.lost += (s.total - (total - shift)) + (s.block - shift)
    s.total, s.block = total, 0.0


def roc_area(scores, positive, weights=None, double low=0.0, double high=1.0):
    """Mean height of the ROC curve over false positive rates from `low` to `high`.

    Parameters
    ----------
    scores : array-like of shape (n,)
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), float64, optional
        Each class must have weight.
    low, high : float
        0 <= low < high <= 1.

    Returns
    -------
    float
        In [0, 1]; the area under the curve for the whole range.
    """
    cdef:
        const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        const double[::1] held = weights
        const double *w = NULL
        ScoreOrder order = ScoreOrder(positive)
        double positive_weight, negative_weight, area = 0.0
        bint finite
    if weights is None:
        positive_weight = np.count_nonzero(positive)
        negative_weight = len(positive) - positive_weight
    else:
        w = &held[0]
        positive_weight, negative_weight = (np.compress(m, weights).sum() for m in (positive, ~positive))
    low, high = low * negative_weight, high * negative_weight
    with nogil:
        finite = order.sort(&s[0], 0.0)
        if finite:
            area = _sweep(order.records, order.n_samples, w, low, high)
    if not finite:
        checked_scores(s, len(positive), name="score")   # says which one
    return min(1.0, area / (positive_weight * (high - low)))


def placements(scores, positive):
    """Where each score stands among those of the other class.

    Parameters
    ----------
    scores : array-like of shape (n,)
    positive : ndarray of shape (n,), bool

    Returns
    -------
    ndarray of shape (n,), float64
        The number of negatives below a positive, of positives above a negative; ties count half.
    """
    cdef:
        const double[::1] s = np.ascontiguousarray(scores, dtype=np.float64)
        double[::1] places = np.empty(len(positive))
        ScoreOrder order = ScoreOrder(positive)
        bint finite
    with nogil:
        finite = order.sort(&s[0], 0.0)
        if finite:
            _place(order.records, order.n_samples, &places[0])
    if not finite:
        checked_scores(s, len(positive), name="score")   # says which one
    return np.asarray(places)


cdef void _place(const Record *records, Py_ssize_t n, double *places) noexcept nogil:
    cdef:
        Py_ssize_t k, begin = 0, middle, end, below = 0, above = 0      # negatives, positives
    for k in range(n):
        above += records[k].tag >> CLASS_SHIFT
    while begin < n:
        middle = begin      # negatives come first among tied scores
        while middle < n and records[middle].z == records[begin].z and records[middle].tag >> CLASS_SHIFT == 0:
            middle += 1
        end = middle
        while end < n and records[end].z == records[begin].z:
            end += 1
        above -= end - middle
        for k in range(begin, middle):
            places[records[k].tag & INDEX_BITS] = above + 0.5 * (end - middle)
        for k in range(middle, end):
            places[records[k].tag & INDEX_BITS] = below + 0.5 * (middle - begin)
        below += middle - begin
        begin = end


cdef double _sweep(const Record *records, Py_ssize_t n, const double *w, double low, double high) noexcept nogil:
    """Area between the false positive weights `low` and `high`, with true positive weights as heights."""
    cdef:
        Sum x = [0.0, 0.0, 0.0], y = [0.0, 0.0, 0.0], area = [0.0, 0.0, 0.0]
        Py_ssize_t k
        double weight, dx = 0.0, dy = 0.0, start, begin, end, middle
    for k in range(n - 1, -1, -1):
        weight = 1.0 if w == NULL else w[records[k].tag & INDEX_BITS]
        if records[k].tag >> CLASS_SHIFT:
            dy += weight
        else:
            dx += weight
        if k > 0 and records[k - 1].z == records[k].z:
            continue
        start = now(&x)
        begin, end = max(start, low), min(start + dx, high)
        if begin < end:
            middle = 0.5 * ((begin - start) + (end - start)) / dx    # exactly 1/2 on a whole piece
            area.block += (end - begin) * (now(&y) + middle * dy)
        x.block += dx
        y.block += dy
        dx = dy = 0.0
        if k % BLOCK == 0:
            close_block(&x)
            close_block(&y)
            close_block(&area)
    return now(&area)
