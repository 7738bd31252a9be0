"""Tiles of a kernel matrix: panels of queries against ranges of columns, distributed over threads.

    queries X[q]  --panel-->  tile of inner products, or of coordinatewise sums  --map-->  rows[q][j : j + tile]
    columns Z     --tiles-->                    (in cache)

A *panel* is up to 512 queries, gathered in one place; a *tile* is a range of the columns, short enough for panel x tile
to stay in the second-level cache. Bounds of tiles do not depend on the number of threads, so results do not either.
Threads take the tiles of all panels one after the other, and each gathers its current panel.

Subclasses compute the tiles:

* ``_gemm_engine``      dense rows, functions of the inner product: one BLAS call, then one vectorised map;
* ``_coordinates_engine``     dense rows, sums or products of a term for each pair of entries;
* ``_sparse_engine``    CSR rows, either kind: the columns' stored entries times dense panels of queries;
* ``_combined_engine``  sums and products: the tiles of the components, combined;
* ``PythonEngine``      a Python function of the user, called for whole rows.

:func:`kernbench.kernels.engine.engines.make_engine` chooses.
"""

from cython.parallel cimport parallel, prange
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from kernbench.kernels.engine._routines cimport *
from kernbench.kernels.engine.operands._operand cimport Operand
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float

import numpy as np

ROUTINES = {
    "gaussian": KB_GAUSSIAN,
    "matern": KB_MATERN,
    "polynomial": KB_POLYNOMIAL,
    "centred": KB_CENTRED,
    "power-series": KB_POWER_SERIES,
    "arc-cosine": KB_ARC_COSINE,
    "sigmoid": KB_SIGMOID,
    "gaussian-of-differences": KB_GAUSSIAN_OF_DIFFERENCES,
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
    HEIGHT = 256                # queries of a panel, unless the subclass overrides it
    TILE_BYTES = 262144         # panel x tile of inner products: half of a small second-level cache
    SERIAL_WORK = 2000000       # multiply-adds below which threads cost more than they save
    MAP_WORK = 16               # multiply-adds that take as long as one value of a map
    LINE_BYTES = 64             # of the cache


cdef void *allocate(size_t n_bytes) except NULL nogil:
    """malloc that raises MemoryError."""
    cdef void *memory = malloc(n_bytes + 1)
    if memory == NULL:
        with gil:
            raise MemoryError(f"could not allocate {n_bytes} bytes for a tile of the kernel matrix")
    return memory


cdef Panel *new_panel(const Py_ssize_t *queries, Py_ssize_t m, size_t body_bytes) noexcept nogil:
    """Allocate a panel of m queries, with terms and (uninitialised) body in one block; NULL if memory runs out.

    The body is aligned to a cache line: otherwise every second vector load would cross a line boundary.
    """
    cdef size_t head_bytes = sizeof(Panel) + m * sizeof(double)
    cdef Panel *panel = <Panel *> malloc(head_bytes + body_bytes + LINE_BYTES)
    if panel != NULL:
        panel.left = panel.right = NULL
        memcpy(panel.queries, queries, m * sizeof(Py_ssize_t))
        panel.terms = <char *> panel + sizeof(Panel)
        panel.body = <void *> ((<size_t> panel + head_bytes + LINE_BYTES - 1) // LINE_BYTES * LINE_BYTES)
    return panel


cdef class Engine:
    """k(X, Z) in tiles. This class distributes them over threads; its subclasses compute them.

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
        self.routine = ROUTINES[kernel.routine]
        self._constants = np.array(kernel.constants or (0.0,), dtype=np.float64)
        self.constants = <const double *> <size_t> self._constants.ctypes.data
        self.n_constants = len(self._constants)
        self.work = X.n_features + MAP_WORK
        self.tiled = True

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        return HEIGHT

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

    cdef void add_weighted(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch,
                           void **tile, const double *weights, double *out) noexcept nogil:
        self.tile(panel, m, start, count, scratch, tile, 0)
        if self.single:
            add_rows_float(<float **> tile, weights, m, 0, count, out)
        else:
            add_rows_double(<double **> tile, weights, m, 0, count, out)

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        cdef:
            Py_ssize_t n = self.Z.n_rows, height = min(m, self.panel_rows())
            Py_ssize_t width, n_panels, n_tiles, n_items, t
            Worker *worker = NULL
            bint failed[1]
        if m == 0 or n == 0:
            return 0
        width, n_panels = self.tile_width(height), (m + height - 1) // height
        n_tiles = (n + width - 1) // width
        n_items, failed[0] = n_panels * n_tiles, False
        # All panels in one parallel region: at a barrier after each, threads would wait for the slowest one, for a
        # whole time slice of the system if other programs keep the cores busy.
        if n_items < 2 or m * n * self.work < SERIAL_WORK:
            worker = _new_worker(self, m, height)
            for t in range(n_items):
                _do_tile(self, worker, queries, m, height, t // n_tiles, t % n_tiles * width, width, rows)
            failed[0] = _release_worker(self, worker)
        else:
            with parallel():
                worker = _new_worker(self, m, height)
                for t in prange(n_items, schedule="dynamic"):
                    _do_tile(self, worker, queries, m, height, t // n_tiles, t % n_tiles * width, width, rows)
                if _release_worker(self, worker):
                    failed[0] = True
        if failed[0]:
            with gil:
                raise MemoryError("could not allocate a tile of the kernel matrix")
        return 0


cdef struct Worker:
    Panel *panel            # gathered by this thread
    Py_ssize_t which        # the number of this panel, or -1
    void *scratch
    bint failed             # memory ran out


cdef Worker *_new_worker(Engine self, Py_ssize_t m, Py_ssize_t height) noexcept nogil:
    """Allocate the memory of one thread for panels of `height` queries, the last one shorter; NULL if memory runs
    out."""
    cdef:
        Worker *worker = <Worker *> malloc(sizeof(Worker))
        Py_ssize_t last = m - (m - 1) // height * height
    if worker == NULL:
        return NULL
    worker.panel, worker.which = NULL, -1
    worker.scratch = malloc(max(self.scratch_bytes(height), self.scratch_bytes(last)) + 1)
    worker.failed = worker.scratch == NULL
    return worker


cdef bint _release_worker(Engine self, Worker *worker) noexcept nogil:
    """Free its memory; return whether memory ran out."""
    cdef bint failed = worker == NULL or worker.failed
    if worker != NULL:
        if worker.panel != NULL:
            self.release(worker.panel)
        free(worker.scratch)
        free(worker)
    return failed


cdef void _do_tile(Engine self, Worker *worker, const Py_ssize_t *queries, Py_ssize_t m, Py_ssize_t height,
                   Py_ssize_t which, Py_ssize_t start, Py_ssize_t width, void **rows) noexcept nogil:
    """Compute a tile of panel `which` from column `start`, after gathering the panel if it is new to the thread."""
    cdef Py_ssize_t first = which * height, here = min(height, m - first)
    if worker == NULL or worker.failed:
        return
    if worker.which != which:
        if worker.panel != NULL:
            self.release(worker.panel)
        worker.panel, worker.which = self.gather(queries + first, here), which
        worker.failed = worker.panel == NULL
    if not worker.failed:
        self.tile(worker.panel, here, start, min(width, self.Z.n_rows - start), worker.scratch, rows + first, start)


cdef class PythonEngine(Engine):
    """k(X, Z) by a Python function of the user, called for whole rows."""

    def __init__(self, kernel, Operand X, Operand Z):
        super().__init__(kernel, X, Z)
        self.tiled = False

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        with gil:
            _fill_from_callable(self, queries, m, rows)
        return 0


cdef int _fill_from_callable(Engine self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1:
    """Call the user's function once for the whole batch, and check what it returns."""
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
