"""Features of projections, phi(x) = scale * finish(<w, x> + b): arguments in tiles, finished while they are in cache.

    rows X[r]        --gemm or sparse sweep-->  tile of arguments  --finish-->  out[r][columns of the segment]
    frequencies W[k]                            (in cache)

A *segment* is a stretch of draws of one block of features. Tiles (a few rows, one segment) are shared out over the
threads; their bounds do not depend on the number of threads, so neither do the features.
"""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.kernels.engine._tiles cimport KB_PANEL, csr_dots_double, csr_dots_float

import numpy as np

FINISHES = {
    "cosine": KB_COSINE, "pair": KB_PAIR, "exponential": KB_EXPONENTIAL, "step": KB_STEP, "ramp": KB_RAMP,
    "square-ramp": KB_SQUARE_RAMP, "identity": KB_IDENTITY,
}
PANEL = KB_PANEL                # draws side by side in a panel of the sparse sweep
DENSE_DRAWS = 256               # draws of a segment, at most: a tile stays in the second-level cache

cdef enum:
    TILE_ROWS = 128
    SPARSE_ROWS = 64
    SERIAL_WORK = 1000000       # multiply-adds below which threads cost more than they save


cdef Target target_of(object out, object finish, double scale, object offsets, object dtype) except *:
    """Pointers into arrays that the caller keeps alive."""
    cdef Target target
    if out.strides[1] != out.itemsize or (out.dtype != dtype and not (out.itemsize == 4 and dtype.itemsize == 8)):
        raise ValueError(f"features of {dtype} cannot be written to an array of {out.dtype}, strides {out.strides}")
    target.out = <char *> <size_t> out.ctypes.data
    target.row_bytes, target.item = out.strides[0], out.itemsize
    target.finish, target.scale = <kb_finish> <int> FINISHES[finish], scale
    target.offsets = NULL
    if offsets is not None:
        target.offsets = <const void *> <size_t> offsets.ctypes.data
    return target


cdef Segment *segments_of(const Py_ssize_t[:, ::1] table) except NULL:
    cdef Segment *segments = <Segment *> malloc(table.shape[0] * sizeof(Segment) + 1)
    cdef Py_ssize_t s
    if segments == NULL:
        raise MemoryError("could not allocate the table of segments")
    for s in range(table.shape[0]):
        segments[s].first, segments[s].count = table[s, 0], table[s, 1]
        segments[s].column, segments[s].distance = table[s, 2], table[s, 3]
    return segments


cdef void finish_tile(real *arguments, Py_ssize_t leading, Py_ssize_t first_row, Py_ssize_t n_rows, Segment segment,
                      Target target) noexcept nogil:
    """From arguments (a row every `leading` numbers) to the features of one segment."""
    cdef Py_ssize_t r
    cdef char *out
    cdef const real *offsets = NULL
    if target.offsets != NULL:
        offsets = (<const real *> target.offsets) + segment.first
    for r in range(n_rows):
        out = target.out + (first_row + r) * target.row_bytes + segment.column * target.item
        if real is float:
            kb_finish_row_float_float(target.finish, arguments + r * leading, offsets, segment.count, target.scale,
                                      <float *> out, segment.distance)
        elif target.item == 4:
            kb_finish_row_double_float(target.finish, arguments + r * leading, offsets, segment.count, target.scale,
                                       <float *> out, segment.distance)
        else:
            kb_finish_row_double_double(target.finish, arguments + r * leading, offsets, segment.count, target.scale,
                                        <double *> out, segment.distance)


def project_dense(const real[:, ::1] X, const real[:, ::1] W, offsets, finish, double scale, segments, out):
    """Write the features of dense rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    W : ndarray of shape (n_draws, d)
        Frequencies, of X's precision.
    offsets : ndarray of shape (n_draws,), or None
        Added to the arguments of cosines and sines; of X's precision.
    finish : str
        One of `FINISHES`.
    scale : float
        Factor of the features.
    segments : ndarray of shape (n_segments, 4), intp
        First draw, number of draws, first column, distance from cosines to sines.
    out : ndarray of shape (n, >= columns)
        Results in X's precision, or float32; rows need not be adjacent in memory.
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], n_segments = len(segments), n_tiles, t, width = 1, s
        Target target
        Segment *table
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
    if n == 0 or n_segments == 0:
        return
    if W.shape[1] != d:
        raise ValueError(f"rows have {d} columns, frequencies {W.shape[1]}")
    target = target_of(out, finish, scale, offsets, np.dtype(np.float32 if real is float else np.float64))
    table = segments_of(segments)
    for s in range(n_segments):
        width = max(width, table[s].count)
    n_tiles = (n + TILE_ROWS - 1) // TILE_ROWS
    wake = n * W.shape[0] * (d + 16) > SERIAL_WORK and n_tiles * n_segments > 1
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(TILE_ROWS * width * sizeof(real))
        for t in prange(n_tiles * n_segments, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _dense_tile[real](&X[0, 0] if d else NULL, &W[0, 0] if d else NULL, n, d, t // n_segments * TILE_ROWS,
                                  table[t % n_segments], target, scratch)
        free(scratch)
    free(table)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _dense_tile(const real *X, const real *W, Py_ssize_t n, Py_ssize_t d, Py_ssize_t first_row, Segment segment,
                      Target target, real *scratch) noexcept nogil:
    cdef:
        Py_ssize_t n_rows = min(<Py_ssize_t> TILE_ROWS, n - first_row)
        int width = <int> segment.count, height = <int> n_rows, depth = <int> d
        real one = 1, zero = 0
    # Row-major arguments = X W^T is column-major W X^T.
    if real is float:
        sgemm("T", "N", &width, &height, &depth, &one, <float *> W + segment.first * d, &depth,
              <float *> X + first_row * d, &depth, &zero, scratch, &width)
    else:
        dgemm("T", "N", &width, &height, &depth, &one, <double *> W + segment.first * d, &depth,
              <double *> X + first_row * d, &depth, &zero, scratch, &width)
    finish_tile[real](scratch, segment.count, first_row, n_rows, segment, target)


def project_sparse(const real[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
                   const real[:, :, ::1] panels, offsets, finish, double scale, segments, out):
    """Write the features of sparse rows; see `project_dense`.

    Parameters
    ----------
    values, columns, starts
        The rows, CSR, n of them.
    panels : ndarray of shape (n_segments, d, PANEL)
        The frequencies of each segment (of at most PANEL draws), one segment after the other, padded with zeros.
    offsets, finish, scale, segments, out
        As for dense rows.
    """
    cdef:
        Py_ssize_t n = starts.shape[0] - 1, n_segments = len(segments), n_tiles, t
        Py_ssize_t panel_size = panels.shape[1] * panels.shape[2]
        Target target
        Segment *table
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
        const real *first_value = &values[0] if values.shape[0] else NULL
        const int32_t *first_column = &columns[0] if columns.shape[0] else NULL
        const real *first_panel = &panels[0, 0, 0] if panels.size else NULL
    if n == 0 or n_segments == 0:
        return
    if panels.shape[0] != n_segments or panels.shape[2] != KB_PANEL:
        raise ValueError(f"{n_segments} segments need as many panels of {PANEL} draws")
    target = target_of(out, finish, scale, offsets, np.dtype(np.float32 if real is float else np.float64))
    table = segments_of(segments)
    n_tiles = (n + SPARSE_ROWS - 1) // SPARSE_ROWS
    wake = (values.shape[0] + 16 * n) * KB_PANEL * n_segments > SERIAL_WORK and n_tiles * n_segments > 1
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(SPARSE_ROWS * KB_PANEL * sizeof(real))
        for t in prange(n_tiles * n_segments, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _sparse_tile[real](first_value, first_column, &starts[0], n, t // n_segments * SPARSE_ROWS,
                                   first_panel + t % n_segments * panel_size, table[t % n_segments], target, scratch)
        free(scratch)
    free(table)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _sparse_tile(const real *values, const int32_t *columns, const int64_t *starts, Py_ssize_t n,
                       Py_ssize_t first_row, const real *panel, Segment segment, Target target,
                       real *scratch) noexcept nogil:
    cdef Py_ssize_t n_rows = min(<Py_ssize_t> SPARSE_ROWS, n - first_row)
    if real is float:
        csr_dots_float(values, columns, starts + first_row, n_rows, panel, 1.0, scratch)
    else:
        csr_dots_double(values, columns, starts + first_row, n_rows, panel, 1.0, scratch)
    finish_tile[real](scratch, KB_PANEL, first_row, n_rows, segment, target)
