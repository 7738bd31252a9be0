"""Whole blocks K(X, Z), and products K(X, Z) @ A that never store K."""

from cython.parallel cimport parallel, prange
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.kernels._engine cimport Engine, Panel, allocate
from kernbench.kernels._tiles cimport dot_row_double, dot_row_float

import numpy as np


def fill_block(Engine engine, const Py_ssize_t[::1] queries, out=None):
    """Return k(X[queries], Z) as an array of the engine's precision, shape (len(queries), n_columns).

    `out`, if given, is a C-contiguous array of that shape and precision to write to.
    """
    cdef Py_ssize_t m = queries.shape[0], q, n = engine.Z.n_rows
    if out is None:
        out = np.empty((m, n), dtype=np.float32 if engine.single else np.float64)
    if m == 0 or n == 0:
        return out
    cdef char *first = <char *> <size_t> out.ctypes.data
    cdef void **rows = <void **> allocate(m * sizeof(void *))
    try:
        for q in range(m):
            rows[q] = first + q * n * engine.item
        with nogil:
            engine.fill(&queries[0], m, rows)
    finally:
        free(rows)
    return out


def multiply(Engine engine, const double[:, ::1] A):
    """Return K(X, Z) @ A in float64, shape (n_queries, n_right_hand_sides), tile by tile.

    Panels of queries are shared out over the threads; each adds up its tiles in the order of the columns, in float64,
    so the result does not depend on the number of threads. Within a tile, one right-hand side is summed in float64,
    several in the precision of the engine (by gemm).
    """
    cdef:
        Py_ssize_t n = engine.X.n_rows, n_rhs = A.shape[1], height = engine.panel_rows()
        Py_ssize_t n_panels = (n + height - 1) // height, p
        Py_ssize_t[::1] queries = np.arange(n, dtype=np.intp)
        double[:, ::1] out = np.zeros((n, n_rhs))
        void *narrow = NULL
        bint failed[1]
    failed[0] = False
    if n == 0 or engine.Z.n_rows == 0 or n_rhs == 0:
        return np.asarray(out)
    typed = np.ascontiguousarray(A, dtype=np.float32 if engine.single else np.float64)
    narrow = <void *> <size_t> typed.ctypes.data
    with nogil:
        if n_panels == 1:
            failed[0] = _multiply_panel(engine, &queries[0], n, &A[0, 0], narrow, n_rhs, &out[0, 0]) != 0
        else:
            with parallel():
                for p in prange(n_panels, schedule="dynamic"):
                    if _multiply_panel(engine, &queries[p * height], min(height, n - p * height), &A[0, 0], narrow,
                                       n_rhs, &out[p * height, 0]) != 0:
                        failed[0] = True
    if failed[0]:
        raise MemoryError("could not allocate a tile of the kernel matrix")
    return np.asarray(out)


cdef int _multiply_panel(Engine engine, const Py_ssize_t *queries, Py_ssize_t m, const double *A, void *narrow,
                         Py_ssize_t n_rhs, double *out) noexcept nogil:
    """out (m, n_rhs) += K(queries, Z) @ A; returns non-zero when memory ran out."""
    cdef:
        Py_ssize_t n = engine.Z.n_rows, width = engine.tile_width(m), start = 0, count, q, k
        Panel *panel = engine.gather(queries, m)
        void *scratch = malloc(engine.scratch_bytes(m) + 1)
        char *tile = <char *> malloc(m * width * engine.item)
        char *product = <char *> malloc(m * n_rhs * engine.item)
        void **rows = <void **> malloc(m * sizeof(void *))
        bint ok = panel != NULL and scratch != NULL and tile != NULL and product != NULL and rows != NULL
        int rhs = <int> n_rhs, height = <int> m, depth, leading = <int> width
        float one_f = 1, zero_f = 0
        double one = 1, zero = 0
    if ok:
        for q in range(m):
            rows[q] = tile + q * width * engine.item
        while start < n:
            count = min(width, n - start)
            engine.tile(panel, m, start, count, scratch, rows, 0)
            if n_rhs == 1:
                for q in range(m):
                    if engine.single:
                        out[q] += dot_row_float(<float *> rows[q], A + start, count)
                    else:
                        out[q] += dot_row_double(<double *> rows[q], A + start, count)
            else:
                depth = <int> count
                if engine.single:
                    sgemm("N", "N", &rhs, &height, &depth, &one_f, <float *> narrow + start * n_rhs, &rhs,
                          <float *> tile, &leading, &zero_f, <float *> product, &rhs)
                    for k in range(m * n_rhs):
                        out[k] += (<float *> product)[k]
                else:
                    dgemm("N", "N", &rhs, &height, &depth, &one, <double *> narrow + start * n_rhs, &rhs,
                          <double *> tile, &leading, &zero, <double *> product, &rhs)
                    for k in range(m * n_rhs):
                        out[k] += (<double *> product)[k]
            start += count
    if panel != NULL:
        engine.release(panel)
    free(scratch)
    free(tile)
    free(product)
    free(rows)
    return 0 if ok else 1
