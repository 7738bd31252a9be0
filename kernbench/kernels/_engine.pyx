"""Tiles of a kernel matrix: panels of queries against stretches of columns, shared out over threads.

    queries X[q]  --panel-->  tile of inner products, or of pairwise sums  --map-->  rows[q][j : j + tile]
    columns Z     --tiles-->                    (in cache)

A *panel* is up to 256 queries gathered side by side; a *tile* is a stretch of the columns, short enough for panel x
tile to stay in the second-level cache. Bounds of tiles do not depend on the number of threads, so neither do results.

What happens inside a tile is the business of the subclasses:

* ``_gemm_engine``      dense rows, functions of the inner product: one BLAS call, then one vectorised map;
* ``_coordinates_engine``     dense rows, sums or products of a term for each pair of entries;
* ``_sparse_engine``    CSR rows, either kind: the columns' stored entries swept past dense panels of queries;
* ``_combined_engine``  sums and products: the tiles of the parts, combined;
* ``PythonEngine``      a user's function, asked for whole rows.

:func:`kernbench.kernels.engines.make_engine` chooses.
"""

from cython.parallel cimport parallel, prange
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from kernbench.kernels._forms cimport *
from kernbench.kernels._operand cimport Operand

import numpy as np

FORMS = {
    "gaussian": KB_GAUSSIAN,
    "matern": KB_MATERN,
    "polynomial": KB_POLYNOMIAL,
    "power-series": KB_POWER_SERIES,
    "arc-cosine": KB_ARC_COSINE,
    "laplacian": KB_LAPLACIAN,
    "cauchy": KB_CAUCHY,
    "sech": KB_SECH,
    "reciprocal-semigroup": KB_RECIPROCAL_SEMIGROUP,
    "exponential-semigroup": KB_EXPONENTIAL_SEMIGROUP,
    "chi-squared": KB_CHI_SQUARED,
    "exponential-chi-squared": KB_EXPONENTIAL_CHI_SQUARED,
    "intersection": KB_INTERSECTION,
    "jensen-shannon": KB_JENSEN_SHANNON,
    "callable": KB_PYTHON,
    "precomputed": KB_PRECOMPUTED,
    "sum": KB_SUM,
    "product": KB_PRODUCT,
}

cdef enum:
    TILE_BYTES = 262144         # panel x tile of inner products: half of a small second-level cache
    SERIAL_WORK = 2000000       # multiply-adds below which waking threads costs more than it gives
    MAP_WORK = 16               # multiply-adds that take as long as one value of a map


cdef void *allocate(size_t n_bytes) except NULL nogil:
    """malloc that raises MemoryError."""
    cdef void *memory = malloc(n_bytes + 1)
    if memory == NULL:
        with gil:
            raise MemoryError(f"could not allocate {n_bytes} bytes for a tile of the kernel matrix")
    return memory


cdef Panel *new_panel(const Py_ssize_t *queries, Py_ssize_t m, size_t body_bytes) noexcept nogil:
    """A panel of m queries, terms and body in the same piece of memory (the body not set); NULL if there is none."""
    cdef size_t head_bytes = sizeof(Panel) + PANEL_ROWS * sizeof(double)
    cdef Panel *panel = <Panel *> malloc(head_bytes + body_bytes)
    if panel != NULL:
        memset(panel, 0, head_bytes)
        memcpy(panel.queries, queries, m * sizeof(Py_ssize_t))
        panel.terms = <char *> panel + sizeof(Panel)
        panel.body = <char *> panel.terms + PANEL_ROWS * sizeof(double)
    return panel


cdef class Engine:
    """k(X, Z) in tiles. This class shares them out; its subclasses compute them.

    Parameters
    ----------
    kernel : Kernel
    X : Operand
        The queries.
    Z : Operand
        The columns; same precision, storage and centre as X.
    """

    def __init__(self, kernel, Operand X, Operand Z):
        if X.single != Z.single:
            raise ValueError("queries and columns must have the same precision")
        self.kernel, self.X, self.Z = kernel, X, Z
        self.single = X.single
        self.item = 4 if X.single else 8
        self.form = FORMS[kernel.form]
        self._constants = np.array(kernel.constants or (0.0,), dtype=np.float64)
        self.constants = <const double *> <size_t> self._constants.ctypes.data
        self.n_constants = len(self._constants)
        self.work = X.n_features + MAP_WORK
        self.tiled = True

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        return PANEL_ROWS

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        return NULL

    cdef void release(self, Panel *panel) noexcept nogil:
        free(panel)

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        return max(<Py_ssize_t> 64, TILE_BYTES // (max(m, <Py_ssize_t> 1) * self.item) // 64 * 64)

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        return 0

    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        pass

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        cdef Py_ssize_t height = self.panel_rows(), first = 0
        while first < m:
            _fill_panel(self, queries + first, min(height, m - first), rows + first)
            first += height
        return 0


cdef int _fill_panel(Engine self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
    """All columns for one panel, tiles shared out over the threads."""
    cdef:
        Py_ssize_t n = self.Z.n_rows, width = self.tile_width(m), n_tiles = (n + width - 1) // width, t
        Panel *panel = self.gather(queries, m)
        void *scratch
        bint serial = m * n * self.work < SERIAL_WORK
        bint failed[1]
    failed[0] = panel == NULL
    if failed[0]:
        pass
    elif serial or n_tiles < 2:
        scratch = malloc(self.scratch_bytes(m) + 1)
        if scratch == NULL:
            failed[0] = True
        else:
            for t in range(n_tiles):
                self.tile(panel, m, t * width, min(width, n - t * width), scratch, rows, t * width)
        free(scratch)
    else:
        with parallel():
            scratch = malloc(self.scratch_bytes(m) + 1)
            if scratch == NULL:
                failed[0] = True
            for t in prange(n_tiles, schedule="dynamic"):
                if scratch != NULL:
                    self.tile(panel, m, t * width, min(width, n - t * width), scratch, rows, t * width)
            free(scratch)
    if panel != NULL:
        self.release(panel)
    if failed[0]:
        with gil:
            raise MemoryError("could not allocate a tile of the kernel matrix")
    return 0


cdef class PythonEngine(Engine):
    """k(X, Z) by a function of the user's, which is asked for whole rows."""

    def __init__(self, kernel, Operand X, Operand Z):
        super().__init__(kernel, X, Z)
        self.tiled = False

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        with gil:
            _fill_from_callable(self, queries, m, rows)
        return 0


cdef int _fill_from_callable(Engine self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1:
    """One call of the user's function for the whole batch; its answer is checked before it is believed."""
    cdef Py_ssize_t q, n = self.Z.n_rows
    cdef const unsigned char[:, ::1] raw
    chosen = np.array([queries[q] for q in range(m)], dtype=np.intp)
    if m == 0 or n == 0:
        return 0
    answer = self.kernel.values(self.X.source[chosen], self.Z.source, np.float32 if self.single else np.float64)
    raw = answer.view(np.uint8)
    for q in range(m):
        memcpy(rows[q], &raw[q, 0], n * self.item)
    return 0
