"""Features of additive homogeneous kernels on histograms; rows are distributed over the threads."""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from kernbench.features.maps.projections._projection cimport Segment, Target, real, segments_of, target_of

import numpy as np

cdef extern from "_additive.h" nogil:
    void kb_additive_scalar_float_float(const float *amplitudes, const float *logs, const int32_t *columns,
                                        ptrdiff_t n_entries, const float *w, const float *b, ptrdiff_t stride,
                                        ptrdiff_t n, float scale, float *t, float *sum, float *out)
    void kb_additive_scalar_double_float(const double *amplitudes, const double *logs, const int32_t *columns,
                                         ptrdiff_t n_entries, const double *w, const double *b, ptrdiff_t stride,
                                         ptrdiff_t n, double scale, double *t, double *sum, float *out)
    void kb_additive_scalar_double_double(const double *amplitudes, const double *logs, const int32_t *columns,
                                          ptrdiff_t n_entries, const double *w, const double *b, ptrdiff_t stride,
                                          ptrdiff_t n, double scale, double *t, double *sum, double *out)
    void kb_additive_vector_float_float(const float *amplitudes, const float *logs, const int32_t *columns,
                                        ptrdiff_t n_entries, ptrdiff_t d, const float *w, ptrdiff_t n, float scale,
                                        float *buffer, ptrdiff_t together, float *cosines, float *sines)
    void kb_additive_vector_double_float(const double *amplitudes, const double *logs, const int32_t *columns,
                                         ptrdiff_t n_entries, ptrdiff_t d, const double *w, ptrdiff_t n, double scale,
                                         double *buffer, ptrdiff_t together, float *cosines, float *sines)
    void kb_additive_vector_double_double(const double *amplitudes, const double *logs, const int32_t *columns,
                                          ptrdiff_t n_entries, ptrdiff_t d, const double *w, ptrdiff_t n,
                                          double scale, double *buffer, ptrdiff_t together, double *cosines,
                                          double *sines)

SCALAR_DRAWS = 256              # draws of a segment of SCALAR features, at most

cdef enum:
    TILE_ROWS = 16
    BUFFER = 512                # arguments of VECTOR features whose cosines are computed together
    SERIAL_WORK = 50000         # cosines below which threads cost more than they save


cdef struct Histograms:
    const void *amplitudes
    const void *logs
    const int32_t *columns
    const int64_t *starts
    Py_ssize_t n_rows, d


cdef Py_ssize_t longest_row(const int64_t[::1] starts):
    cdef Py_ssize_t r, longest = 0
    for r in range(starts.shape[0] - 1):
        longest = max(longest, <Py_ssize_t> (starts[r + 1] - starts[r]))
    return longest


def additive_features(const real[::1] amplitudes, const real[::1] logs, const int32_t[::1] columns,
                      const int64_t[::1] starts, const real[:, ::1] w, const real[:, ::1] b, double scale, segments,
                      out, Py_ssize_t d):
    """Write the features of histograms.

    Parameters
    ----------
    amplitudes, logs, columns, starts
        The positive entries of n rows, CSR: their square roots and logarithms.
    w : ndarray
        SCALAR: (d, n_draws). VECTOR: (1, n_draws), one frequency for all columns of a draw.
    b : ndarray of shape (d, n_draws), or None
        Phases of SCALAR features; None for VECTOR.
    scale : float
    segments : ndarray of shape (n_segments, 4), intp
        First draw, number of draws, first column, distance from cosines to sines.
    out : ndarray of shape (n, >= columns)
    d : int
        Columns of the histograms.
    """
    cdef:
        Histograms X
        Py_ssize_t n = starts.shape[0] - 1, n_segments = len(segments), n_tiles, t, longest, size, s
        Target target
        Segment *table
        const real *phases = NULL
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
    if n == 0 or n_segments == 0:
        return
    longest = longest_row(starts)
    X.amplitudes = &amplitudes[0] if amplitudes.shape[0] else NULL
    X.logs = &logs[0] if logs.shape[0] else NULL
    X.columns = &columns[0] if columns.shape[0] else NULL
    X.starts, X.n_rows, X.d = &starts[0], n, d
    if b is not None:
        phases = &b[0, 0]
    target = target_of(out, "cosine", scale, None, np.dtype(np.float32 if real is float else np.float64))
    table = segments_of(segments)
    size = max(2 * SCALAR_DRAWS, 3 * max(<Py_ssize_t> BUFFER, longest))
    if phases != NULL:
        for s in range(n_segments):
            size = max(size, 2 * table[s].count)
    n_tiles = (n + TILE_ROWS - 1) // TILE_ROWS
    wake = amplitudes.shape[0] * w.shape[1] > SERIAL_WORK and n_tiles * n_segments > 1
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(size * sizeof(real))
        for t in prange(n_tiles * n_segments, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _tile[real](X, t // n_segments * TILE_ROWS, &w[0, 0], phases, w.shape[1], table[t % n_segments],
                            target, scratch)
        free(scratch)
    free(table)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _tile(Histograms X, Py_ssize_t first_row, const real *w, const real *b, Py_ssize_t stride, Segment segment,
                Target target, real *scratch) noexcept nogil:
    cdef Py_ssize_t r
    for r in range(first_row, min(first_row + TILE_ROWS, X.n_rows)):
        _row[real](X, r, w + segment.first, b + segment.first if b != NULL else NULL, stride, segment, target, scratch)


cdef void _row(Histograms X, Py_ssize_t r, const real *w, const real *b, Py_ssize_t stride, Segment segment,
               Target target, real *scratch) noexcept nogil:
    cdef:
        int64_t first = X.starts[r]
        Py_ssize_t n_entries = X.starts[r + 1] - first, together
        const real *amplitudes = (<const real *> X.amplitudes) + first
        const real *logs = (<const real *> X.logs) + first
        const int32_t *columns = X.columns + first
        char *out = target.out + r * target.row_bytes + segment.column * target.item
        char *sines = out + segment.distance * target.item
        real *sums = scratch + segment.count
    if b != NULL:
        if real is float:
            kb_additive_scalar_float_float(amplitudes, logs, columns, n_entries, w, b, stride, segment.count,
                                           <float> target.scale, scratch, sums, <float *> out)
        elif target.item == 4:
            kb_additive_scalar_double_float(amplitudes, logs, columns, n_entries, w, b, stride, segment.count,
                                            target.scale, scratch, sums, <float *> out)
        else:
            kb_additive_scalar_double_double(amplitudes, logs, columns, n_entries, w, b, stride, segment.count,
                                             target.scale, scratch, sums, <double *> out)
        return
    together = max(<Py_ssize_t> 1, BUFFER // max(<Py_ssize_t> 1, n_entries))
    if real is float:
        kb_additive_vector_float_float(amplitudes, logs, columns, n_entries, X.d, w, segment.count,
                                       <float> target.scale, scratch, together, <float *> out, <float *> sines)
    elif target.item == 4:
        kb_additive_vector_double_float(amplitudes, logs, columns, n_entries, X.d, w, segment.count, target.scale,
                                        scratch, together, <float *> out, <float *> sines)
    else:
        kb_additive_vector_double_double(amplitudes, logs, columns, n_entries, X.d, w, segment.count, target.scale,
                                         scratch, together, <double *> out, <double *> sines)
