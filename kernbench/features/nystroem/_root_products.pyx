"""Kernel values times a root, k(x, L) R: tiles of rows, distributed over the threads.

The bounds of the tiles do not depend on the number of threads and BLAS is single-threaded inside, so the features do
not depend on it either.
"""

from cython.parallel cimport prange
from scipy.linalg.cython_blas cimport dgemm, dtrmm, sgemm, strmm

from kernbench.kernels.threads import single_threaded_blas

ctypedef fused real:
    float
    double

cdef enum:
    TILE_ROWS = 256  # a root is packed once per tile: its share of the work is 1 / TILE_ROWS


def multiply_triangular(const real[:, ::1] root, real[:, ::1] values):
    """Overwrite `values` (n, m) with ``values @ root``, where `root` (m, m) is upper triangular.

    Half the multiplications of a full product; entries below the diagonal are not read.
    """
    if root.shape[0] != root.shape[1] or values.shape[1] != root.shape[0]:
        raise ValueError(f"cannot multiply {values.shape[1]} columns by a triangular root of {root.shape[0]} rows "
                         f"and {root.shape[1]} columns")
    cdef Py_ssize_t n = values.shape[0], n_tiles = (n + TILE_ROWS - 1) // TILE_ROWS, t
    if n == 0 or root.shape[0] == 0:
        return
    with single_threaded_blas(), nogil:
        for t in prange(n_tiles, schedule="dynamic"):
            _triangular(&root[0, 0], &values[t * TILE_ROWS, 0], min(TILE_ROWS, n - t * TILE_ROWS), root.shape[0])


def multiply(const real[:, ::1] root, const real[:, ::1] values, real[:, ::1] out):
    """Fill `out` (n, r) with ``values @ root``, for `values` (n, m) and `root` (m, r)."""
    if values.shape[1] != root.shape[0] or out.shape[0] != values.shape[0] or out.shape[1] != root.shape[1]:
        raise ValueError(f"cannot multiply {values.shape[1]} columns by a root of {root.shape[0]} rows and "
                         f"{root.shape[1]} columns into {out.shape[1]} columns")
    cdef Py_ssize_t n = values.shape[0], n_tiles = (n + TILE_ROWS - 1) // TILE_ROWS, t
    if n == 0 or root.shape[0] == 0 or root.shape[1] == 0:
        return
    with single_threaded_blas(), nogil:
        for t in prange(n_tiles, schedule="dynamic"):
            _full(&root[0, 0], &values[t * TILE_ROWS, 0], &out[t * TILE_ROWS, 0], min(TILE_ROWS, n - t * TILE_ROWS),
                  root.shape[0], root.shape[1])


cdef void _triangular(const real *root, real *values, Py_ssize_t n_rows, Py_ssize_t n_columns) noexcept nogil:
    # Row by row is the transpose of BLAS's column by column: values^T = root^T values^T, with a lower triangle.
    cdef int m = <int> n_columns, n = <int> n_rows
    cdef real one = 1
    if real is float:
        strmm("L", "L", "N", "N", &m, &n, &one, <float *> root, &m, values, &m)
    else:
        dtrmm("L", "L", "N", "N", &m, &n, &one, <double *> root, &m, values, &m)


cdef void _full(const real *root, const real *values, real *out, Py_ssize_t n_rows, Py_ssize_t n_inner,
                Py_ssize_t n_columns) noexcept nogil:
    cdef int r = <int> n_columns, m = <int> n_inner, n = <int> n_rows
    cdef real one = 1, zero = 0
    if real is float:
        sgemm("N", "N", &r, &n, &m, &one, <float *> root, &r, <float *> values, &m, &zero, out, &r)
    else:
        dgemm("N", "N", &r, &n, &m, &one, <double *> root, &r, <double *> values, &m, &zero, out, &r)
