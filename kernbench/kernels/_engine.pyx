"""Tiles of a kernel matrix: one BLAS call (or one sparse sweep), then one vectorised pass while the tile is in cache.

    queries X[q]  --panel-->  tile of inner products  --map-->  rows[q][j : j + tile]
    columns Z     --tiles-->        (in cache)

A *panel* is up to 256 queries gathered side by side with their norms; a *tile* is a stretch of the columns, short
enough for panel x tile to stay in the second-level cache. Tiles are shared out over threads; their bounds do not
depend on the number of threads, so neither do the results.

Dense rows go through ``sgemm``/``dgemm``. Sparse columns are swept past dense panels of 64 queries: each stored
entry costs 64 multiply-adds that vectorise, which beats the dense product when three quarters of the entries are zero.
"""

from cython.parallel cimport parallel, prange
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.kernels._operand cimport Operand
from kernbench.kernels._tiles cimport (
    KB_PANEL, csr_dots_double, csr_dots_float, csr_l1_double, csr_l1_float, gaussian_row_double, gaussian_row_float,
    l1_row_double, l1_row_float, laplacian_row_double, laplacian_row_float, polynomial_row_double,
    polynomial_row_float, turn_double, turn_float, untangle_double, untangle_float,
)

import numpy as np

ctypedef fused real:
    float
    double

FORMS = {"gaussian": GAUSSIAN, "laplacian": LAPLACIAN, "polynomial": POLYNOMIAL,
         "precomputed": PRECOMPUTED, "callable": CALLABLE}

cdef enum:
    TILE_BYTES = 262144         # panel x tile of inner products: half of a small second-level cache
    SPARSE_TILE = 64            # columns per step of the sparse sweep: the step stays in the first-level cache
    SPARSE_STRETCH = 512        # columns per tile of the sparse sweep
    SPARSE_PANEL_BYTES = 16777216   # dense copies of the sparse queries, at most (but at least one panel of 64)
    SERIAL_WORK = 2000000       # multiply-adds below which waking threads costs more than it gives


cdef void *allocate(size_t n_bytes) except NULL nogil:
    """malloc that raises MemoryError."""
    cdef void *memory = malloc(n_bytes + 1)
    if memory == NULL:
        with gil:
            raise MemoryError(f"could not allocate {n_bytes} bytes for a tile of the kernel matrix")
    return memory


cdef class Engine:
    """k(X, Z) in tiles.

    Parameters
    ----------
    kernel : Kernel
    X : Operand
        The queries.
    Z : Operand
        The columns; same precision, storage and centre as X.
    """

    def __init__(self, kernel, Operand X, Operand Z):
        if X.single != Z.single or X.is_sparse != Z.is_sparse:
            raise ValueError("queries and columns must have the same precision and storage")
        if kernel.form == "precomputed":
            if X.n_features != Z.n_rows:
                raise ValueError(f"the precomputed kernel has {X.n_features} columns for {Z.n_rows} rows: "
                                 "give k(X, training rows)")
        elif X.n_features != Z.n_features:
            raise ValueError(f"X has {X.n_features} features, Z has {Z.n_features}: they must agree")
        self.kernel, self.X, self.Z = kernel, X, Z
        self.single = X.single
        self.item = 4 if X.single else 8
        self.form = FORMS[kernel.form]
        constants = tuple(kernel.constants) + (0.0, 0.0, 1.0)[len(kernel.constants):]
        self.constant = constants[0]
        self.shift = constants[1]
        self.degree = <int> constants[2]

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        cdef Py_ssize_t bytes_per_panel, n_panels
        if not self.X.is_sparse:
            return PANEL_ROWS
        bytes_per_panel = self.X.n_features * KB_PANEL * self.item + 1
        n_panels = SPARSE_PANEL_BYTES // bytes_per_panel
        return KB_PANEL * max(<Py_ssize_t> 1, min(<Py_ssize_t> PANEL_ROWS // KB_PANEL, n_panels))

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        if self.X.is_sparse:
            return SPARSE_STRETCH
        return max(<Py_ssize_t> 64, TILE_BYTES // (max(m, <Py_ssize_t> 1) * self.item) // 64 * 64)

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        if self.X.is_sparse:
            return 2 * SPARSE_TILE * KB_PANEL * self.item
        return self.tile_width(m) * (m + (self.X.n_features if self.form == LAPLACIAN else 0)) * self.item

    cdef void *gather(self, const Py_ssize_t *queries, Py_ssize_t m) except NULL nogil:
        if self.single:
            return _gather[float](self, queries, m, <float *> self.X.values)
        return _gather[double](self, queries, m, <double *> self.X.values)

    cdef void tile(self, void *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        if self.form == PRECOMPUTED:
            _copy_tile(self, panel, m, start, count, rows, offset)
        elif self.X.is_sparse:
            if self.single:
                _sparse_tile[float](self, <float *> panel, m, start, count, <float *> scratch, <float **> rows, offset)
            else:
                _sparse_tile[double](self, <double *> panel, m, start, count, <double *> scratch, <double **> rows,
                                     offset)
        elif self.single:
            _dense_tile[float](self, <float *> panel, m, start, count, <float *> scratch, <float **> rows, offset)
        else:
            _dense_tile[double](self, <double *> panel, m, start, count, <double *> scratch, <double **> rows, offset)

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        cdef Py_ssize_t height = self.panel_rows(), first = 0
        if self.form == CALLABLE:
            with gil:
                _fill_from_callable(self, queries, m, rows)
            return 0
        while first < m:
            _fill_panel(self, queries + first, min(height, m - first), rows + first)
            first += height
        return 0


cdef int _fill_panel(Engine self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
    """All columns for one panel, tiles shared out over the threads."""
    cdef:
        Py_ssize_t n = self.Z.n_rows, width = self.tile_width(m), n_tiles = (n + width - 1) // width, t
        void *panel = self.gather(queries, m)
        void *scratch
        bint serial = m * n * (self.X.n_features + 16) < SERIAL_WORK
    if serial or n_tiles < 2:
        scratch = malloc(self.scratch_bytes(m) + 1)
        for t in range(n_tiles):
            self.tile(panel, m, t * width, min(width, n - t * width), scratch, rows, t * width)
        free(scratch)
    else:
        with parallel():
            scratch = malloc(self.scratch_bytes(m) + 1)
            for t in prange(n_tiles, schedule="dynamic"):
                self.tile(panel, m, t * width, min(width, n - t * width), scratch, rows, t * width)
            free(scratch)
    free(panel)
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


# --- panels: queries side by side, their norms in front ---------------------------------------------------------

cdef void *_gather(Engine self, const Py_ssize_t *queries, Py_ssize_t m, const real *values) except NULL nogil:
    """Layout: PANEL_ROWS norms, then the rows (dense), or groups of KB_PANEL rows, turned (sparse)."""
    cdef:
        Py_ssize_t d = self.X.n_features, q, height = (m + KB_PANEL - 1) // KB_PANEL * KB_PANEL
        size_t n_bytes = (PANEL_ROWS + height * d) * sizeof(real)
        real *panel = <real *> allocate(n_bytes)
        real *body = panel + PANEL_ROWS
        real *slot
        const real *norms = <const real *> self.X.norms
        int64_t k
    memset(panel, 0, PANEL_ROWS * sizeof(real))
    if self.X.is_sparse:
        memset(body, 0, height * d * sizeof(real))
    for q in range(m):
        if self.form == GAUSSIAN or self.X.is_sparse:
            panel[q] = norms[queries[q]]
        if self.X.is_sparse:
            slot = body + (q // KB_PANEL) * d * KB_PANEL + q % KB_PANEL
            for k in range(self.X.starts[queries[q]], self.X.starts[queries[q] + 1]):
                slot[<Py_ssize_t> self.X.columns[k] * KB_PANEL] += values[k]
        else:
            memcpy(body + q * d, values + queries[q] * d, d * sizeof(real))
    return panel


cdef inline void _map_row(Engine self, const real *products, real query_norm, const real *column_norms, Py_ssize_t n,
                          real *out) noexcept nogil:
    """From inner products (already times 2 gamma, or times the scale) or distances to kernel values."""
    if real is float:
        if self.form == GAUSSIAN:
            gaussian_row_float(products, query_norm, column_norms, n, out)
        elif self.form == LAPLACIAN:
            laplacian_row_float(products, <float> self.constant, n, out)
        else:
            polynomial_row_float(products, <float> self.shift, self.degree, n, out)
    else:
        if self.form == GAUSSIAN:
            gaussian_row_double(products, query_norm, column_norms, n, out)
        elif self.form == LAPLACIAN:
            laplacian_row_double(products, self.constant, n, out)
        else:
            polynomial_row_double(products, self.shift, self.degree, n, out)


# --- one tile: precomputed, dense, sparse ---------------------------------------------------------------------------

cdef void _copy_tile(Engine self, void *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void **rows,
                     Py_ssize_t offset) noexcept nogil:
    """Precomputed kernels: the rows of X are the rows of K."""
    cdef Py_ssize_t q
    cdef char *body = <char *> panel + PANEL_ROWS * self.item
    for q in range(m):
        memcpy(<char *> rows[q] + offset * self.item, body + (q * self.X.n_features + start) * self.item,
               count * self.item)


cdef void _dense_tile(Engine self, real *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
                      real **rows, Py_ssize_t offset) noexcept nogil:
    """One gemm into `products`, one map out of it."""
    cdef:
        Py_ssize_t d = self.X.n_features, q
        int width = <int> count, height = <int> m, depth = <int> d
        real *body = panel + PANEL_ROWS
        real *z = <real *> self.Z.values + start * d
        const real *z_norms = <const real *> self.Z.norms
        real scale = <real> (2.0 * self.constant if self.form == GAUSSIAN else self.constant)
        real zero = 0
        real *turned = products + m * count
    if self.form == GAUSSIAN:
        z_norms = z_norms + start
    if self.form == LAPLACIAN:
        # Distances have no gemm: turn the columns so that one feature of all of them lies side by side.
        if real is float:
            turn_float(z, count, d, turned)
        else:
            turn_double(z, count, d, turned)
        for q in range(m):
            if real is float:
                l1_row_float(body + q * d, turned, d, count, products + q * count)
            else:
                l1_row_double(body + q * d, turned, d, count, products + q * count)
    # Row-major products = panel z^T is column-major z panel^T.
    elif real is float:
        sgemm("T", "N", &width, &height, &depth, &scale, z, &depth, body, &depth, &zero, products, &width)
    else:
        dgemm("T", "N", &width, &height, &depth, &scale, z, &depth, body, &depth, &zero, products, &width)
    for q in range(m):
        _map_row[real](self, products + q * count, panel[q], z_norms, count, rows[q] + offset)


cdef void _sparse_tile(Engine self, real *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
                       real **rows, Py_ssize_t offset) noexcept nogil:
    """Sweep the columns past groups of KB_PANEL queries, map along the queries, untangle into rows."""
    cdef:
        Py_ssize_t group, n_groups = (m + KB_PANEL - 1) // KB_PANEL, first, step, n_steps, r, height
        Py_ssize_t d = self.X.n_features
        const real *values = <const real *> self.Z.values
        const real *z_norms = <const real *> self.Z.norms
        const real *norms
        real *body
        real *mapped = products + SPARSE_TILE * KB_PANEL
        real scale = <real> (2.0 * self.constant if self.form == GAUSSIAN else self.constant)
    for group in range(n_groups):
        norms = panel + group * KB_PANEL
        body = panel + PANEL_ROWS + group * d * KB_PANEL
        for step in range((count + SPARSE_TILE - 1) // SPARSE_TILE):
            first = start + step * SPARSE_TILE
            height = min(<Py_ssize_t> SPARSE_TILE, start + count - first)
            if real is float:
                if self.form == LAPLACIAN:
                    csr_l1_float(values, self.Z.columns, self.Z.starts + first, height, body, norms, products)
                else:
                    csr_dots_float(values, self.Z.columns, self.Z.starts + first, height, body, scale, products)
            else:
                if self.form == LAPLACIAN:
                    csr_l1_double(values, self.Z.columns, self.Z.starts + first, height, body, norms, products)
                else:
                    csr_dots_double(values, self.Z.columns, self.Z.starts + first, height, body, scale, products)
            for r in range(height):
                _map_row[real](self, products + r * KB_PANEL, z_norms[first + r], norms, KB_PANEL,
                               mapped + r * KB_PANEL)
            if real is float:
                untangle_float(mapped, height, min(<Py_ssize_t> KB_PANEL, m - group * KB_PANEL),
                               rows + group * KB_PANEL, offset + step * SPARSE_TILE)
            else:
                untangle_double(mapped, height, min(<Py_ssize_t> KB_PANEL, m - group * KB_PANEL),
                                rows + group * KB_PANEL, offset + step * SPARSE_TILE)
