"""Tiles of kernels of the inner product, dense rows: one gemm, then one vectorised map while the tile is in cache."""

from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport dgemm, sgemm

from kernbench.kernels.engine._engine cimport PANEL_ROWS, Engine, Panel, new_panel
from kernbench.kernels.engine.values._maps cimport map_row_double, map_row_float
from kernbench.kernels.engine.values._matern cimport MaternProfile
from kernbench.kernels.engine._near cimport gemm_scale, mend_dense_row, near_floor, needs_mending
from kernbench.kernels.engine.operands._operand cimport Operand
from kernbench.kernels.engine._routines cimport KB_MATERN
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float

from kernbench.kernels.engine.values._matern import matern_profile

ctypedef fused real:
    float
    double

cdef enum:
    ROWS_AT_ONCE = 4           # rows added together
    # Inner products of a tile. BLAS packs the columns of a tile once for each panel, and the panel once for each tile:
    # higher panels and wider tiles reduce packing, until a tile exceeds the second-level cache (measured with 1 MB).
    TILE_BYTES = 524288


cdef class GemmEngine(Engine):
    """k(X, Z) where X and Z are stored row by row."""

    cdef double scale          # of the inner products
    cdef bint mends
    cdef double floor          # squared norms above which near pairs are recomputed
    cdef MaternProfile profile  # of a Matern kernel, or None

    def __init__(self, kernel, Operand X, Operand Z):
        super().__init__(kernel, X, Z)
        self.scale = gemm_scale(self.routine, self.constants)
        self.mends = needs_mending(self.routine, self.constants)
        self.floor = near_floor(self.routine, self.constants)
        if self.routine == KB_MATERN:
            self.profile = matern_profile(self.constants[0], self.single)

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        return PANEL_ROWS

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        cdef Py_ssize_t all = (self.Z.n_rows + 63) // 64 * 64
        return max(<Py_ssize_t> 64, min(all, TILE_BYTES // (max(m, <Py_ssize_t> 1) * self.item) // 64 * 64))

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        return self.tile_width(m) * m * self.item

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        cdef Panel *panel = new_panel(queries, m, m * self.X.n_features * self.item)
        if panel != NULL:
            if self.single:
                _gather[float](self, panel, m, <float *> panel.body)
            else:
                _gather[double](self, panel, m, <double *> panel.body)
        return panel

    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        if self.single:
            _tile[float](self, panel, m, start, count, <float *> scratch, <float **> rows, offset)
        else:
            _tile[double](self, panel, m, start, count, <double *> scratch, <double **> rows, offset)

    cdef void add_weighted(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch,
                           void **tile, const double *weights, double *out) noexcept nogil:
        if self.single:
            _add_weighted[float](self, panel, m, start, count, <float *> scratch, <float **> tile, weights, out)
        else:
            _add_weighted[double](self, panel, m, start, count, <double *> scratch, <double **> tile, weights, out)


cdef void _gather(GemmEngine self, Panel *panel, Py_ssize_t m, real *body) noexcept nogil:
    cdef Py_ssize_t d = self.X.n_features, q
    for q in range(m):
        memcpy(body + q * d, <real *> self.X.values + panel.queries[q] * d, d * sizeof(real))
        (<real *> panel.terms)[q] = (<real *> self.X.terms)[panel.queries[q]]


cdef void _tile(GemmEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
                real **rows, Py_ssize_t offset) noexcept nogil:
    cdef Py_ssize_t q
    _multiply[real](self, panel, m, start, count, products)
    for q in range(m):
        _map[real](self, panel, q, start, count, products, rows[q] + offset)


cdef void _add_weighted(GemmEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count,
                        real *products, real **tile, const double *weights, double *out) noexcept nogil:
    """Map a few rows at a time, and add them while they are in the first-level cache."""
    cdef Py_ssize_t first = 0, q, here
    _multiply[real](self, panel, m, start, count, products)
    while first < m:
        here = min(<Py_ssize_t> ROWS_AT_ONCE, m - first)
        for q in range(here):
            _map[real](self, panel, first + q, start, count, products, tile[q])
        if real is float:
            add_rows_float(tile, weights + first, here, 0, count, out)
        else:
            add_rows_double(tile, weights + first, here, 0, count, out)
        first += here


cdef void _multiply(GemmEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count,
                    real *products) noexcept nogil:
    """Scaled inner products, row after row."""
    cdef:
        Py_ssize_t d = self.X.n_features
        int width = <int> count, height = <int> m, depth = <int> d, leading = max(1, <int> d)
        real *body = <real *> panel.body
        real *z = <real *> self.Z.values + start * d
        real scale = <real> self.scale, zero = 0
    # Row-major products = panel z^T is column-major z panel^T.
    if real is float:
        sgemm("T", "N", &width, &height, &depth, &scale, z, &leading, body, &leading, &zero, products, &width)
    else:
        dgemm("T", "N", &width, &height, &depth, &scale, z, &leading, body, &leading, &zero, products, &width)


cdef void _map(GemmEngine self, Panel *panel, Py_ssize_t q, Py_ssize_t start, Py_ssize_t count, real *products,
               real *out) noexcept nogil:
    """The values of query q at `count` columns."""
    cdef:
        Py_ssize_t d = self.X.n_features
        real a = (<const real *> panel.terms)[q]
        const real *b = <const real *> self.Z.terms + start
        real *t = products + q * count
    if real is float:
        map_row_float(self.routine, self.constants, self.n_constants, t, a, b, count, out)
    else:
        map_row_double(self.routine, self.constants, self.n_constants, t, a, b, count, out)
    if self.mends:
        mend_dense_row[real](self.routine, self.floor, <real *> panel.body + q * d, <real *> self.Z.values + start * d,
                             d, t, a, b, count, out)
    if self.profile is not None:
        self.profile.map(count, out)
