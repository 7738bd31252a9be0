"""Features that come block by block, from files, a map of other rows or other machines; and sums over parts of rows.

Scores and combinations are those of `FeatureDesign`, bit for bit: sums are taken over the same chunks of rows (see
`chunk_starts`) and added in their order, whoever computes which of them.
"""

from kernbench.solvers.design._design cimport Design, FeatureDesign, number_of_chunks

import numpy as np

FEWEST_LEAVES, MOST_LEAVES = 16, 256    # parts of the rows over which moments are summed up
MOMENTS = 1 << 20                       # numbers in the moments of all leaves, at most, if these are not the fewest


cdef class BlockDesign(Design):
    """Explicit features that need not be in memory.

    The blocks get copies and return new arrays: after Ctrl-C, their threads or messages to workers may still use an
    array when the caller has already freed its memory.

    Attributes
    ----------
    blocks : RowBlocks
    n_samples, n_coef : int
    is_kernel : bool
        False.
    n_passes : int
        Products with the features so far.
    n_kernel_evaluations : int
        0.
    """

    cdef readonly object blocks

    def __init__(self, blocks):
        self.blocks = blocks
        self.n_samples, self.n_coef, self.n_values = blocks.n_rows, blocks.n_columns, blocks.n_values

    def take(self, indices):
        """Return the design of a subset of the samples, which is held in memory."""
        return FeatureDesign(self.blocks.rows(np.asarray(indices)))

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        return coef

    cdef int score(self, const double *coef, double *scores) except -1 nogil:
        self.n_passes += 1
        with gil:
            (<double[:self.n_samples]> scores)[:] = self.blocks.scores(np.array(<const double[:self.n_coef]> coef))
        return 0

    cdef int gather_up(self, const double *g, double *element) except -1 nogil:
        self.n_passes += 1
        with gil:
            (<double[:self.n_coef]> element)[:] = self.blocks.combine(np.array(<const double[:self.n_samples]> g))
        return 0

    cdef int moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                     const double *means, double *out) except -1 nogil:
        cdef Py_ssize_t n = self.n_samples, d = self.n_coef
        self.n_passes += 1
        with gil:
            groups = None if mask == NULL else np.array(<const unsigned char[:n]> mask)
            (<double[:d, :d]> out)[:] = self.blocks.moments(
                np.array(<const Py_ssize_t[:count]> rows), np.array(<const double[:n]> h), groups,
                np.array(<const double[:2, :d]> means))
        return 0


def chunk_starts(Py_ssize_t n_rows, Py_ssize_t n_columns):
    """Return the bounds of the chunks of rows that sums are taken over, an ndarray of intp from 0 to `n_rows`.

    A chunk is summed up from its first row, four dense rows at a time: a part of a chunk must end at a multiple of four
    rows from its start.
    """
    cdef Py_ssize_t chunks = number_of_chunks(n_rows, n_columns)
    return n_rows * np.arange(chunks + 1) // chunks


def leaf_starts(Py_ssize_t n_rows, Py_ssize_t n_columns):
    """Return the bounds of the leaves of rows that moments are summed up over: whole chunks, from 0 to `n_rows`."""
    starts = chunk_starts(n_rows, n_columns)
    n_leaves = min(len(starts) - 1, max(FEWEST_LEAVES, min(MOST_LEAVES, MOMENTS // n_columns**2)))
    return starts[(len(starts) - 1) * np.arange(n_leaves + 1) // n_leaves]


def add_scores(FeatureDesign part, const double[::1] coef, double[::1] out):
    """Write the scores of the rows of `part`, on this thread."""
    if coef.shape[0] != part.n_coef or out.shape[0] != part.n_samples:
        raise ValueError(f"a part of shape {(part.n_samples, part.n_coef)} does not fit its coefficients or scores")
    with nogil:
        part._score(0, part.n_samples, &coef[0], &out[0])


def add_sums(FeatureDesign part, const double[::1] g, const Py_ssize_t[::1] bounds, double[:, ::1] sums):
    """Add the sums of g_i x_i over rows bounds[c] to bounds[c + 1] of `part` to sums[c], on this thread."""
    cdef Py_ssize_t c
    if (g.shape[0] != part.n_samples or sums.shape[1] != part.n_coef or sums.shape[0] != bounds.shape[0] - 1
            or bounds[0] < 0 or bounds[bounds.shape[0] - 1] > part.n_samples):
        raise ValueError(f"a part of shape {(part.n_samples, part.n_coef)} does not fit its slopes or sums")
    with nogil:
        for c in range(sums.shape[0]):
            part._gather_up(bounds[c], bounds[c + 1], &g[0], &sums[c, 0])


def add_in_order(double[:, ::1] sums, double[::1] total):
    """Add the rows of `sums` to `total`, one after the other."""
    cdef Py_ssize_t c, k
    with nogil:
        for c in range(sums.shape[0]):
            for k in range(total.shape[0]):
                total[k] += sums[c, k]


def add_moments(FeatureDesign part, const Py_ssize_t[::1] rows, const double[::1] h, mask, const double[:, ::1] means,
                double[:, ::1] sums):
    """Add the moments of some rows of `part`, with their weights and classes there, to `sums`, on this thread."""
    cdef:
        const unsigned char[::1] classes = mask
        const unsigned char *classes_of_rows = NULL if mask is None else &classes[0]
        Py_ssize_t d = part.n_coef
        int failed
    if (rows.shape[0] and (rows[0] < 0 or rows[rows.shape[0] - 1] >= part.n_samples) or h.shape[0] != part.n_samples
            or means.shape[0] != 2 or means.shape[1] != d or sums.shape[0] != d or sums.shape[1] != d
            or mask is not None and classes.shape[0] != part.n_samples):
        raise ValueError(f"a part of shape {(part.n_samples, part.n_coef)} does not fit its weights or moments")
    if rows.shape[0] == 0:
        return
    with nogil:
        failed = part._moments(&rows[0], rows.shape[0], &h[0], classes_of_rows, &means[0, 0], &sums[0, 0])
    if failed:
        raise MemoryError("could not allocate a block of rows")
