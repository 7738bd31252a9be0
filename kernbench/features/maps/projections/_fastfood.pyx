"""Features of Fastfood projections: arguments by fast Walsh-Hadamard transforms instead of a product with W."""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from kernbench.features.maps.projections._projection cimport Segment, Target, finish_tile, real, segments_of, target_of

import numpy as np

cdef extern from "_fastfood.h" nogil:
    enum: KB_LANES

    void kb_fastfood_rows_float(const float *x, ptrdiff_t n_rows, ptrdiff_t d, ptrdiff_t padded, const float *signs,
                                const int32_t *permutation, const float *normals, const float *lengths,
                                ptrdiff_t count, float *z, float *u, float *arguments)
    void kb_fastfood_rows_double(const double *x, ptrdiff_t n_rows, ptrdiff_t d, ptrdiff_t padded, const double *signs,
                                 const int32_t *permutation, const double *normals, const double *lengths,
                                 ptrdiff_t count, double *z, double *u, double *arguments)

cdef enum:
    SERIAL_WORK = 200000        # butterflies below which threads cost more than they save


def project_fastfood(const real[:, ::1] X, const real[:, ::1] signs, const int32_t[:, ::1] permutations,
                     const real[:, ::1] normals, const real[:, ::1] lengths, offsets, finish, double scale, segments,
                     out):
    """Write the features of dense rows; see `kernbench.features.maps.projections._projection.project_dense`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    signs, permutations, normals, lengths : ndarray of shape (n_groups, padded)
        As in `kernbench.features.draws.fastfood.Factors`; one group for each segment.
    offsets, finish, scale, segments, out
        As for a product with W.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], n_segments = len(segments), padded = signs.shape[1], n_tiles, t
        Target target
        Segment *table
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
    if n == 0 or n_segments == 0:
        return
    if signs.shape[0] != n_segments or padded < d:
        raise ValueError(f"{n_segments} segments of rows of {d} columns need as many groups of at least {d} entries, "
                         f"got {signs.shape[0]} of {padded}")
    target = target_of(out, finish, scale, offsets, np.dtype(np.float32 if real is float else np.float64))
    table = segments_of(segments)
    n_tiles = (n + KB_LANES - 1) // KB_LANES
    wake = n * n_segments * padded > SERIAL_WORK and n_tiles * n_segments > 1
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(3 * padded * KB_LANES * sizeof(real))
        for t in prange(n_tiles * n_segments, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _tile[real](&X[0, 0], n, d, padded, t // n_segments * KB_LANES, &signs[t % n_segments, 0],
                            &permutations[t % n_segments, 0], &normals[t % n_segments, 0],
                            &lengths[t % n_segments, 0], table[t % n_segments], target, scratch)
        free(scratch)
    free(table)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _tile(const real *X, Py_ssize_t n, Py_ssize_t d, Py_ssize_t padded, Py_ssize_t first_row, const real *signs,
                const int32_t *permutation, const real *normals, const real *lengths, Segment segment, Target target,
                real *scratch) noexcept nogil:
    cdef:
        Py_ssize_t n_rows = min(<Py_ssize_t> KB_LANES, n - first_row)
        real *u = scratch + padded * KB_LANES
        real *arguments = u + padded * KB_LANES
    if real is float:
        kb_fastfood_rows_float(X + first_row * d, n_rows, d, padded, signs, permutation, normals, lengths,
                               segment.count, scratch, u, arguments)
    else:
        kb_fastfood_rows_double(X + first_row * d, n_rows, d, padded, signs, permutation, normals, lengths,
                                segment.count, scratch, u, arguments)
    finish_tile[real](arguments, segment.count, first_row, n_rows, segment, target)
