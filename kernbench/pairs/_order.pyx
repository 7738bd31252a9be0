"""The order of scores: sorted in memory that is allocated once, by both cores, from the last order if that is near.

How it is sorted is told in ``_order.h``. The order is total (value, class, index), so it depends on the scores only:
not on the threads, nor on what was sorted before.
"""

from cython.parallel cimport prange
from libc.math cimport NAN
from libc.string cimport memset

import numpy as np

from kernbench.pairs.checks import checked_scores

cdef extern from "_order.h" nogil:
    Grid make_grid "kb_make_grid"(double low, double high, Py_ssize_t n_cells, bint by_place)
    bint find_range "kb_range"(const double *scores, const uint8_t *positive, double margin, Py_ssize_t begin,
                               Py_ssize_t end, double *low, double *high)
    void count "kb_count"(const double *scores, const uint8_t *positive, double margin, Py_ssize_t begin,
                          Py_ssize_t end, Grid grid, uint32_t *counts)
    void scatter "kb_scatter"(const double *scores, const uint8_t *positive, double margin, Py_ssize_t begin,
                              Py_ssize_t end, Grid grid, uint32_t *next, Record *records)
    void sort_into "kb_sort_into"(Record *source, Record *target, Py_ssize_t n, int round)
    void refresh "kb_refresh"(const double *scores, double margin, Record *records, Py_ssize_t begin, Py_ssize_t end)
    bint insert "kb_insert"(Record *records, Py_ssize_t n, Py_ssize_t budget)

LARGEST_SIZE = 2**31 - 1

cdef enum:
    SMALL = 4096           # up to here one cell, sorted in cache, is all
    CELL_SIZE = 512        # records of a cell, on average
    MOST_CELLS = 16384
    PIECE = 65536          # samples that are worth a thread
    MOST_PIECES = 8
    PROBES = 512           # neighbours that tell whether the last order is still near
    WORK = 2               # moves per record that insertion is worth


cdef class ScoreOrder:
    """Scores sorted ascending with their classes.

    Parameters
    ----------
    positive : ndarray of shape (n,), bool
        Whether each sample is positive.
    """

    def __init__(self, positive):
        n = self.n_samples = len(positive)
        if n > LARGEST_SIZE:
            raise ValueError(f"at most {LARGEST_SIZE} samples can be ranked, got {n}")
        self.n_cells = 1 if n <= SMALL else min(n // CELL_SIZE, MOST_CELLS)
        self.n_pieces = max(1, min(n // PIECE, MOST_PIECES))
        self.margin = NAN
        mask = np.array(positive, dtype=np.uint8)
        records, scratch = np.empty(2 * (n + 1)), np.empty(2 * n)
        counters = np.empty(self.n_pieces * self.n_cells, dtype=np.uint32)
        ranges = np.empty((2, self.n_pieces))
        self.arrays = (mask, records, scratch, counters, ranges)
        self.positive = <const uint8_t *> <size_t> mask.ctypes.data
        self.records = <Record *> <size_t> records.ctypes.data
        self.scratch = <Record *> <size_t> scratch.ctypes.data
        self.counters = <uint32_t *> <size_t> counters.ctypes.data
        self.lows = <double *> <size_t> ranges.ctypes.data
        self.highs = self.lows + self.n_pieces

    def argsort(self, scores, double margin=0.0):
        """Return the samples by score, ascending; where scores are equal, negatives first, then by index.

        Parameters
        ----------
        scores : array-like of shape (n,)
        margin : float, default=0.0
            Taken off the scores of the positives.

        Returns
        -------
        ndarray of shape (n,), intp
        """
        cdef:
            const double[::1] s = checked_scores(scores, self.n_samples)
            Py_ssize_t[::1] order = np.empty(self.n_samples, dtype=np.intp)
            Py_ssize_t k
            bint finite
        with nogil:
            finite = self.sort(&s[0], margin)
            for k in range(self.n_samples if finite else 0):
                order[k] = self.records[k].tag & INDEX_BITS
        if not finite:
            raise ValueError(f"scores minus the margin must be finite, got margin={margin:g}")
        return np.asarray(order)

    cdef bint sort(self, const double *scores, double margin) noexcept nogil:
        cdef bint again = margin == self.margin
        if not self._measure(scores, margin):
            self.margin = NAN
            return False
        self.margin = margin
        if not (again and self._repair(scores)):
            self._distribute(scores)
        self.records[self.n_samples] = self.records[self.n_samples - 1]
        return True

    cdef bint _measure(self, const double *scores, double margin) noexcept nogil:
        """Find the range of the values; returns whether all are finite."""
        cdef:
            Py_ssize_t p, n = self.n_samples, n_pieces = self.n_pieces
            int bad = 0
        for p in prange(n_pieces, schedule="static", use_threads_if=n_pieces > 1):
            bad += not find_range(scores, self.positive, margin, n * p // n_pieces, n * (p + 1) // n_pieces,
                                  &self.lows[p], &self.highs[p])
        self.low, self.high = self.lows[0], self.highs[0]
        for p in range(1, n_pieces):
            self.low, self.high = min(self.low, self.lows[p]), max(self.high, self.highs[p])
        return not bad

    cdef bint _repair(self, const double *scores) noexcept nogil:
        """Sort by insertion from the last order, if a sample of neighbours says that it is near enough."""
        cdef:
            Py_ssize_t p, k, n = self.n_samples, n_pieces = self.n_pieces
            Py_ssize_t n_probes = min(n - 1, PROBES), descents = 0
            double here, beyond
        for p in range(n_probes):
            k = (n - 1) * p // n_probes
            here, beyond = self._value(scores, k), self._value(scores, k + 1)
            descents += here > beyond
        if descents > n_probes // 16:
            return False
        for p in prange(n_pieces, schedule="static", use_threads_if=n_pieces > 1):
            refresh(scores, self.margin, self.records, n * p // n_pieces, n * (p + 1) // n_pieces)
        return insert(self.records, n, WORK * n)

    cdef double _value(self, const double *scores, Py_ssize_t k) noexcept nogil:
        cdef uint64_t tag = self.records[k].tag
        return scores[tag & INDEX_BITS] - self.margin * <double> <Py_ssize_t> (tag >> CLASS_SHIFT)

    cdef void _distribute(self, const double *scores) noexcept nogil:
        """Bring the records to cells of equal width, then sort each cell."""
        cdef:
            Py_ssize_t p, c, begin, n = self.n_samples, n_pieces = self.n_pieces, n_cells = self.n_cells
            Grid grid = make_grid(self.low, self.high, n_cells, False)
            uint32_t *ends = self.counters + (n_pieces - 1) * n_cells   # of the cells, after the scattering
            uint32_t total = 0, size
        memset(self.counters, 0, n_pieces * n_cells * sizeof(uint32_t))
        for p in prange(n_pieces, schedule="static", use_threads_if=n_pieces > 1):
            count(scores, self.positive, self.margin, n * p // n_pieces, n * (p + 1) // n_pieces, grid,
                  self.counters + p * n_cells)
        for c in range(n_cells):
            for p in range(n_pieces):
                size = self.counters[p * n_cells + c]
                self.counters[p * n_cells + c] = total
                total += size
        for p in prange(n_pieces, schedule="static", use_threads_if=n_pieces > 1):
            scatter(scores, self.positive, self.margin, n * p // n_pieces, n * (p + 1) // n_pieces, grid,
                    self.counters + p * n_cells, self.scratch)
        for c in prange(n_cells, schedule="dynamic", chunksize=16, use_threads_if=n_pieces > 1):
            begin = ends[c - 1] if c > 0 else 0
            sort_into(self.scratch + begin, self.records + begin, ends[c] - begin, 0)
