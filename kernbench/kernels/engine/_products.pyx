"""Whole blocks K(X, Z), and products K(X, Z) @ A that never store K; Ctrl-C interrupts long ones."""

from cpython.exc cimport PyErr_CheckSignals
from cython.parallel cimport parallel, prange
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.kernels.engine._engine cimport Engine, Panel, allocate
from kernbench.kernels.engine._tiles cimport dot_row_double, dot_row_float

import numpy as np

from kernbench.kernels.threads import n_openmp_threads

WORK_AT_ONCE = 2.0**36      # multiply-adds between two checks for Ctrl-C: some seconds of one core

cdef enum:
    PANELS_AT_ONCE = 4      # gathered before the columns are distributed over the threads
    MOST_TILES = 8          # tiles that a thread processes with one panel before the next panel
    FEWEST_PANELS = 16      # ... between two checks for Ctrl-C, for each thread


def fill_block(Engine engine, const Py_ssize_t[::1] queries, out=None):
    """Return k(X[queries], Z) as an array of the engine's precision, shape (len(queries), n_columns).

    `out`, if given, is a C-contiguous array of that shape and precision to write to.
    """
    cdef Py_ssize_t m = queries.shape[0], q, n = engine.Z.n_rows, first_row = 0, count, at_once = m
    if out is None:
        out = np.empty((m, n), dtype=np.float32 if engine.single else np.float64)
    if m == 0 or n == 0:
        return out
    cdef char *first = <char *> <size_t> out.ctypes.data
    cdef void **rows = <void **> allocate(m * sizeof(void *))
    try:
        for q in range(m):
            rows[q] = first + q * n * engine.item
        if engine.tiled:
            at_once = engine.panel_rows() * _panels_at_once(engine, m)
        while first_row < m:
            # The last call takes up to twice as many queries: fewer than a panel would have tiles of another width.
            count = at_once if m - first_row >= 2 * at_once else m - first_row
            with nogil:
                engine.fill(&queries[first_row], count, rows + first_row)
            first_row += count
            if first_row < m:
                PyErr_CheckSignals()
    finally:
        free(rows)
    return out


def multiply(Engine engine, const double[:, ::1] A):
    """Return K(X, Z) @ A in float64, shape (n_queries, n_right_hand_sides), tile by tile.

    Panels of queries are distributed over the threads; each adds up its tiles in the order of the columns, in float64,
    so the result does not depend on the number of threads. Within a tile, one right-hand side is summed in float64,
    several in the precision of the engine (by gemm).
    """
    cdef:
        Py_ssize_t n = engine.X.n_rows, n_rhs = A.shape[1], height = engine.panel_rows()
        Py_ssize_t n_panels = (n + height - 1) // height, p, first, stop, at_once
        Py_ssize_t[::1] queries = np.arange(n, dtype=np.intp)
        double[:, ::1] out = np.zeros((n, n_rhs))
        void *narrow = NULL
        bint failed[1]
    failed[0] = False
    if n == 0 or engine.Z.n_rows == 0 or n_rhs == 0:
        return np.asarray(out)
    typed = np.ascontiguousarray(A, dtype=np.float32 if engine.single else np.float64)
    narrow = <void *> <size_t> typed.ctypes.data
    at_once = _panels_at_once(engine, n)
    for first in range(0, n_panels, at_once):
        if first > 0:
            PyErr_CheckSignals()
        stop = min(n_panels, first + at_once)
        with nogil:
            if n_panels == 1:
                failed[0] = _multiply_panel(engine, &queries[0], n, &A[0, 0], narrow, n_rhs, &out[0, 0]) != 0
            else:
                with parallel():
                    for p in prange(first, stop, schedule="dynamic"):
                        if _multiply_panel(engine, &queries[p * height], min(height, n - p * height), &A[0, 0], narrow,
                                           n_rhs, &out[p * height, 0]) != 0:
                            failed[0] = True
        if failed[0]:
            raise MemoryError("could not allocate a tile of the kernel matrix")
    return np.asarray(out)


def add_weighted_rows(Engine engine, const Py_ssize_t[::1] queries, const double[::1] weights, double[::1] out):
    """out += weights' K(X[queries], Z): a combination of rows that are never stored, tile by tile.

    Ranges of columns are distributed over the threads; panels are added in the order of the queries, in float64, so the
    result does not depend on the number of threads.
    """
    cdef:
        Py_ssize_t n = engine.Z.n_rows, m = queries.shape[0], height = engine.panel_rows(), first = 0, n_panels, p, t
        Py_ssize_t width = engine.tile_width(min(m, height)), n_tiles = (n + width - 1) // width
        # A panel stays in cache for several tiles, but few enough to keep all threads busy.
        Py_ssize_t stretch = width * max(<Py_ssize_t> 1, min(<Py_ssize_t> MOST_TILES, n_tiles // MOST_TILES))
        Py_ssize_t n_tasks = (n + stretch - 1) // stretch
        Panel *panels[PANELS_AT_ONCE]
        bint failed[1]
    failed[0] = False
    while first < m and not failed[0] and n > 0:
        n_panels = min(<Py_ssize_t> PANELS_AT_ONCE, (m - first + height - 1) // height)
        with nogil:
            for p in range(n_panels):
                panels[p] = engine.gather(&queries[first + p * height], min(height, m - first - p * height))
                failed[0] = failed[0] or panels[p] == NULL
            if not failed[0]:
                for t in prange(n_tasks, schedule="dynamic", use_threads_if=n_tasks > 1):
                    if _add_stretch(engine, panels, n_panels, m - first, t * stretch, min(n, (t + 1) * stretch), width,
                                    &weights[first], &out[0]) != 0:
                        failed[0] = True
            for p in range(n_panels):
                if panels[p] != NULL:
                    engine.release(panels[p])
        first += n_panels * height
        if first < m and not failed[0]:
            PyErr_CheckSignals()
    if failed[0]:
        raise MemoryError("could not allocate a tile of the kernel matrix")


cdef Py_ssize_t _panels_at_once(Engine engine, Py_ssize_t n_queries) except -1:
    """Return the number of panels between two checks for Ctrl-C, at least 1; enough of them to occupy all threads."""
    cdef Py_ssize_t height = engine.panel_rows(), n_panels = (n_queries + height - 1) // height
    cdef double most = WORK_AT_ONCE, of_a_panel = <double> height * engine.Z.n_rows * engine.work
    if n_panels * of_a_panel <= most:
        return max(n_panels, 1)
    return max(<Py_ssize_t> (most / of_a_panel), <Py_ssize_t> FEWEST_PANELS * n_openmp_threads())


cdef int _add_stretch(Engine engine, Panel **panels, Py_ssize_t n_panels, Py_ssize_t m, Py_ssize_t start,
                      Py_ssize_t stop, Py_ssize_t width, const double *weights, double *out) noexcept nogil:
    """Columns start to stop of the combination of up to `n_panels` whole panels; non-zero when memory ran out."""
    cdef:
        Py_ssize_t height = engine.panel_rows(), most = min(m, height), here, p, q, column
        char *tile = <char *> malloc(most * width * engine.item)
        void *scratch = malloc(max(engine.scratch_bytes(height), engine.scratch_bytes(m % height)) + 1)
        void **rows = <void **> malloc(most * sizeof(void *))
        bint ok = tile != NULL and scratch != NULL and rows != NULL
    if ok:
        for q in range(most):
            rows[q] = tile + q * width * engine.item
        for p in range(n_panels):
            here = min(height, m - p * height)
            column = start
            while column < stop:
                engine.add_weighted(panels[p], here, column, min(width, stop - column), scratch, rows,
                                    weights + p * height, out + column)
                column += width
    free(tile)
    free(scratch)
    free(rows)
    return 0 if ok else 1


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
