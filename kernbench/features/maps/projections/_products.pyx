"""Products Z A of the features of projections with coefficients, without storing Z; _projection.pyx computes Z.

    rows X[r]        --gemm or sparse sweep-->  tile of arguments  --finish, times A-->  out[r]
    frequencies W[k]                            (in cache)

Tiles of rows are shared out over the threads, and each goes through all frequencies in their order: no sum crosses
threads, so the result does not depend on their number.
"""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.features.maps.projections._projection cimport (
    KB_PAIR, kb_finish, kb_finish_row_double_double, kb_finish_row_float_float, real,
)
from kernbench.kernels.engine._tiles cimport KB_PANEL, csr_dots_double, csr_dots_float

import numpy as np

from kernbench.features.maps.projections._projection import FINISHES

cdef extern from "_products.h" nogil:
    void kb_add_dots_float(const float *z, ptrdiff_t n, const float *A, ptrdiff_t leading, ptrdiff_t n_outputs, double *out)
    void kb_add_dots_double(const double *z, ptrdiff_t n, const double *A, ptrdiff_t leading, ptrdiff_t n_outputs,
                            double *out)

cdef enum:
    MOST_ROWS = 128             # of a tile: with WIDTH arguments each it fits half of a second-level cache
    FEWEST_ROWS = 16
    TILES = 8                   # tiles, if each has that many rows
    WIDTH = 256                 # arguments of a tile
    FEW_OUTPUTS = 6             # up to which inner products row by row beat a matrix product
    SERIAL_WORK = 1000000       # multiply-adds below which threads cost more than they save


# How a tile of arguments is processed. Coefficients have one row for each output and one number for each draw; `second`
# are those of the sines.
cdef struct Finish:
    kb_finish finish
    double scale
    const void *offsets
    const void *first
    const void *second
    Py_ssize_t n_draws, n_outputs


cdef Finish finish_of(name, double scale, offsets, first, second, dtype, Py_ssize_t n_draws) except *:
    """Pointers into arrays that the caller keeps alive."""
    cdef Finish how
    for array in (first, second, offsets):
        if array is not None and (array.dtype != dtype or not array.flags.c_contiguous or array.shape[array.ndim - 1] != n_draws):
            raise ValueError(f"coefficients and offsets must be C-ordered {dtype} with {n_draws} columns")
    how.finish, how.scale, how.n_draws, how.n_outputs = <kb_finish> <int> FINISHES[name], scale, n_draws, first.shape[0]
    if (how.finish == KB_PAIR) != (second is not None):
        raise ValueError("a pair has two sets of coefficients, any other form one")
    how.offsets = NULL if offsets is None else <const void *> <size_t> offsets.ctypes.data
    how.first = <const void *> <size_t> first.ctypes.data
    how.second = NULL if second is None else <const void *> <size_t> second.ctypes.data
    return how


cdef void add_products(real *arguments, Py_ssize_t leading, Py_ssize_t n_rows, Py_ssize_t draw, Py_ssize_t count,
                       const Finish *how, real *cosines, real *sines, real *products, double *out) noexcept nogil:
    """out (n_rows, n_outputs) += features of the draws from `draw` on, times their coefficients."""
    cdef:
        const real *offsets = NULL
        Py_ssize_t n_outputs = how.n_outputs, r, step = 0 if n_outputs <= FEW_OUTPUTS else count
        const real *first = (<const real *> how.first) + draw
        const real *second = NULL
        real *z
        real *s
    if how.offsets != NULL:
        offsets = (<const real *> how.offsets) + draw
    if how.second != NULL:
        second = (<const real *> how.second) + draw
    for r in range(n_rows):
        z = cosines + r * step
        s = sines + r * step
        if real is float:
            kb_finish_row_float_float(how.finish, arguments + r * leading, offsets, count, how.scale, z, s - z)
        else:
            kb_finish_row_double_double(how.finish, arguments + r * leading, offsets, count, how.scale, z, s - z)
        if step:
            continue
        if real is float:
            kb_add_dots_float(z, count, first, how.n_draws, n_outputs, out + r * n_outputs)
            if second != NULL:
                kb_add_dots_float(s, count, second, how.n_draws, n_outputs, out + r * n_outputs)
        else:
            kb_add_dots_double(z, count, first, how.n_draws, n_outputs, out + r * n_outputs)
            if second != NULL:
                kb_add_dots_double(s, count, second, how.n_draws, n_outputs, out + r * n_outputs)
    if step:
        add_matrix_product[real](cosines, n_rows, count, first, how, products, out)
        if second != NULL:
            add_matrix_product[real](sines, n_rows, count, second, how, products, out)


cdef void add_matrix_product(real *features, Py_ssize_t n_rows, Py_ssize_t count, const real *A, const Finish *how,
                             real *products, double *out) noexcept nogil:
    cdef:
        int n_outputs = <int> how.n_outputs, height = <int> n_rows, depth = <int> count, leading = <int> how.n_draws
        real one = 1, zero = 0
        Py_ssize_t i
    if real is float:
        sgemm("T", "N", &n_outputs, &height, &depth, &one, <float *> A, &leading, features, &depth, &zero, products,
              &n_outputs)
    else:
        dgemm("T", "N", &n_outputs, &height, &depth, &one, <double *> A, &leading, features, &depth, &zero, products,
              &n_outputs)
    for i in range(n_rows * how.n_outputs):
        out[i] += products[i]


cdef Py_ssize_t tile_rows(Py_ssize_t n) noexcept nogil:
    """The number of rows of a tile, which depends only on the number of all rows."""
    return max(<Py_ssize_t> FEWEST_ROWS, min(<Py_ssize_t> MOST_ROWS, (n + TILES - 1) // TILES))


cdef Py_ssize_t scratch_size(Py_ssize_t height, Py_ssize_t width, Py_ssize_t n_outputs) noexcept nogil:
    """The size of a thread's scratch memory: arguments, cosines, sines, and products of a tile."""
    cdef Py_ssize_t kept = 1 if n_outputs <= FEW_OUTPUTS else height
    return height * width + 2 * kept * width + height * n_outputs


def multiply_dense(const real[:, ::1] X, const real[:, ::1] W, offsets, finish, double scale, first, second,
                   double[:, ::1] out):
    """Add the features of dense rows, times coefficients, to out.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    W : ndarray of shape (n_draws, d)
        Frequencies, of X's precision.
    offsets : ndarray of shape (n_draws,), or None
        Added to the arguments of cosines and sines.
    finish : str
        One of `FINISHES`.
    scale : float
        Factor of the features.
    first, second : ndarray of shape (n_outputs, n_draws)
        Coefficients, of X's precision; `second` are those of the sines of a pair, else None.
    out : ndarray of shape (n, n_outputs)
    """
    cdef:
        Py_ssize_t n = X.shape[0], d = X.shape[1], n_draws = W.shape[0], height = tile_rows(n), n_tiles, t
        Finish how
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
    if n == 0 or n_draws == 0:
        return
    if W.shape[1] != d:
        raise ValueError(f"rows have {d} columns, frequencies {W.shape[1]}")
    how = finish_of(finish, scale, offsets, first, second, np.dtype(np.float32 if real is float else np.float64), n_draws)
    if out.shape[0] != n or out.shape[1] != how.n_outputs:
        raise ValueError(f"out must have shape {(n, how.n_outputs)}")
    n_tiles = (n + height - 1) // height
    wake = n_tiles > 1 and n * n_draws * (d + 16) > SERIAL_WORK
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(scratch_size(height, WIDTH, how.n_outputs) * sizeof(real))
        for t in prange(n_tiles, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _dense_rows[real](&X[0, 0] if d else NULL, &W[0, 0] if d else NULL, d, t * height,
                                  min(height, n - t * height), &how, scratch, height, &out[0, 0])
        free(scratch)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _dense_rows(const real *X, const real *W, Py_ssize_t d, Py_ssize_t first_row, Py_ssize_t n_rows,
                      const Finish *how, real *scratch, Py_ssize_t height, double *out) noexcept nogil:
    cdef:
        Py_ssize_t k, draw, kept = 1 if how.n_outputs <= FEW_OUTPUTS else height
        int width, rows = <int> n_rows, depth = <int> d, leading = max(<int> d, 1)
        real one = 1, zero = 0
        real *cosines = scratch + height * WIDTH
        real *sines = cosines + kept * WIDTH
    for k in range((how.n_draws + WIDTH - 1) // WIDTH):
        draw = k * WIDTH
        width = <int> min(<Py_ssize_t> WIDTH, how.n_draws - draw)
        # Row-major arguments = X W^T is column-major W X^T.
        if real is float:
            sgemm("T", "N", &width, &rows, &depth, &one, <float *> W + draw * d, &leading, <float *> X + first_row * d,
                  &leading, &zero, scratch, &width)
        else:
            dgemm("T", "N", &width, &rows, &depth, &one, <double *> W + draw * d, &leading,
                  <double *> X + first_row * d, &leading, &zero, scratch, &width)
        add_products[real](scratch, width, n_rows, draw, width, how, cosines, sines, sines + kept * WIDTH,
                           out + first_row * how.n_outputs)


def multiply_sparse(const real[::1] values, const int32_t[::1] columns, const int64_t[::1] starts,
                    const real[:, :, ::1] panels, const Py_ssize_t[:, ::1] segments, Py_ssize_t n_draws, offsets, finish,
                    double scale, first, second, double[:, ::1] out):
    """Add the features of sparse rows, times coefficients, to out; see `multiply_dense`.

    Parameters
    ----------
    values, columns, starts
        The rows, CSR, n of them.
    panels : ndarray of shape (n_segments, d, PANEL)
        Frequencies, as `project_sparse` takes them.
    segments : ndarray of shape (n_segments, >= 2), intp
        First draw and number of draws of each panel.
    n_draws : int
    offsets, finish, scale, first, second, out
        As for dense rows.
    """
    cdef:
        Py_ssize_t n = starts.shape[0] - 1, height = tile_rows(n), n_tiles, t
        Finish how
        real *scratch
        bint wake
        bint failed[1]  # shared by all threads; a scalar would be lastprivate
        const real *first_value = &values[0] if values.shape[0] else NULL
        const int32_t *first_column = &columns[0] if columns.shape[0] else NULL
        const real *first_panel = &panels[0, 0, 0] if panels.size else NULL
    if n == 0 or n_draws == 0:
        return
    if panels.shape[0] != segments.shape[0] or panels.shape[2] != KB_PANEL:
        raise ValueError(f"{segments.shape[0]} segments need as many panels of {KB_PANEL} draws")
    how = finish_of(finish, scale, offsets, first, second, np.dtype(np.float32 if real is float else np.float64), n_draws)
    if out.shape[0] != n or out.shape[1] != how.n_outputs:
        raise ValueError(f"out must have shape {(n, how.n_outputs)}")
    n_tiles = (n + height - 1) // height
    wake = n_tiles > 1 and (values.shape[0] + 16 * n) * n_draws > SERIAL_WORK
    failed[0] = False
    with nogil, parallel(use_threads_if=wake):
        scratch = <real *> malloc(scratch_size(height, KB_PANEL, how.n_outputs) * sizeof(real))
        for t in prange(n_tiles, schedule="dynamic"):
            if scratch == NULL:
                failed[0] = True
            else:
                _sparse_rows[real](first_value, first_column, &starts[0], t * height, min(height, n - t * height),
                                   first_panel, panels.shape[1] * panels.shape[2], segments, &how, scratch, height,
                                   &out[0, 0])
        free(scratch)
    if failed[0]:
        raise MemoryError("could not allocate a tile of arguments")


cdef void _sparse_rows(const real *values, const int32_t *columns, const int64_t *starts, Py_ssize_t first_row,
                       Py_ssize_t n_rows, const real *panels, Py_ssize_t panel_size,
                       const Py_ssize_t[:, ::1] segments, const Finish *how, real *scratch, Py_ssize_t height,
                       double *out) noexcept nogil:
    cdef:
        Py_ssize_t s, kept = 1 if how.n_outputs <= FEW_OUTPUTS else height
        real *cosines = scratch + height * KB_PANEL
        real *sines = cosines + kept * KB_PANEL
    for s in range(segments.shape[0]):
        if real is float:
            csr_dots_float(values, columns, starts + first_row, n_rows, panels + s * panel_size, 1.0, scratch)
        else:
            csr_dots_double(values, columns, starts + first_row, n_rows, panels + s * panel_size, 1.0, scratch)
        add_products[real](scratch, KB_PANEL, n_rows, segments[s, 0], segments[s, 1], how, cosines, sines,
                           sines + kept * KB_PANEL, out + first_row * how.n_outputs)
