"""Tiles of CSR rows: the columns' stored entries swept past dense panels of 64 queries.

Each stored entry costs 64 multiply-adds (or other terms) that vectorise, which beats the dense way when most of the
entries are zero. Kernels of the inner product are mapped along the queries; then the tile is untangled into rows.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset

from kernbench.kernels._engine cimport PANEL_ROWS, Engine, Panel, new_panel
from kernbench.kernels._maps cimport finish_row_double, finish_row_float, map_row_double, map_row_float
from kernbench.kernels._near cimport gemm_scale, has_bessel, map_bessel, mend_sparse_row, needs_mending
from kernbench.kernels._operand cimport Operand
from kernbench.kernels._coordinates cimport coordinates_sweep_double, coordinates_sweep_float
from kernbench.kernels._tiles cimport KB_PANEL, csr_dots_double, csr_dots_float, untangle_double, untangle_float

ctypedef fused real:
    float
    double

cdef enum:
    STEP = 64                   # columns per step of the sweep: the step stays in the first-level cache
    STRETCH = 512               # columns per tile
    PANEL_BYTES = 16777216      # dense copies of the queries, at most (but at least one panel of 64)


cdef class SparseEngine(Engine):
    """k(X, Z) where X and Z are CSR."""

    cdef double scale
    cdef bint bessel, mends, pairwise

    def __init__(self, kernel, Operand X, Operand Z):
        super().__init__(kernel, X, Z)
        self.scale = gemm_scale(self.form, self.constants)
        self.bessel = has_bessel(self.form, self.constants)
        self.mends = needs_mending(self.form, self.constants)
        self.pairwise = kernel.pairwise

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        cdef Py_ssize_t bytes_per_panel = self.X.n_features * self.X.n_streams * KB_PANEL * self.item + 1
        return KB_PANEL * max(<Py_ssize_t> 1, min(<Py_ssize_t> PANEL_ROWS // KB_PANEL, PANEL_BYTES // bytes_per_panel))

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        return STRETCH

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        return 2 * STEP * KB_PANEL * self.item

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        cdef:
            Py_ssize_t height = (m + KB_PANEL - 1) // KB_PANEL * KB_PANEL
            size_t body_bytes = height * self.X.n_features * self.X.n_streams * self.item
            Panel *panel = new_panel(queries, m, body_bytes)
        if panel != NULL:
            memset(panel.body, 0, body_bytes)
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


cdef void _gather(SparseEngine self, Panel *panel, Py_ssize_t m, real *body) noexcept nogil:
    """Groups of KB_PANEL rows, turned: the entries of one feature side by side."""
    cdef:
        Py_ssize_t d = self.X.n_features, n_streams = self.X.n_streams, q, i, s
        const real *values = <const real *> self.X.values
        real *slot
        int64_t k
    for q in range(m):
        i = panel.queries[q]
        (<real *> panel.terms)[q] = (<real *> self.X.terms)[i]
        slot = body + (q // KB_PANEL) * d * n_streams * KB_PANEL + q % KB_PANEL
        for k in range(self.X.starts[i], self.X.starts[i + 1]):
            for s in range(n_streams):
                slot[(<Py_ssize_t> self.X.columns[k] * n_streams + s) * KB_PANEL] = values[k * n_streams + s]


cdef void _tile(SparseEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
                real **rows, Py_ssize_t offset) noexcept nogil:
    cdef:
        Py_ssize_t group, n_groups = (m + KB_PANEL - 1) // KB_PANEL, first, step, height, width
        Py_ssize_t group_length = self.X.n_features * self.X.n_streams * KB_PANEL
        const real *terms
        const real *body
        real *mapped
    for group in range(n_groups):
        terms = <const real *> panel.terms + group * KB_PANEL
        body = <const real *> panel.body + group * group_length
        width = min(<Py_ssize_t> KB_PANEL, m - group * KB_PANEL)
        for step in range((count + STEP - 1) // STEP):
            first = start + step * STEP
            height = min(<Py_ssize_t> STEP, start + count - first)
            if self.pairwise:
                mapped = products
                _add_up[real](self, first, height, body, terms, mapped)
            else:
                mapped = products + STEP * KB_PANEL
                _multiply[real](self, panel.queries + group * KB_PANEL, width, first, height, body, terms, products,
                                mapped)
            if real is float:
                untangle_float(mapped, height, width, rows + group * KB_PANEL, offset + step * STEP)
            else:
                untangle_double(mapped, height, width, rows + group * KB_PANEL, offset + step * STEP)


cdef void _add_up(SparseEngine self, Py_ssize_t first, Py_ssize_t height, const real *body, const real *terms,
                  real *out) noexcept nogil:
    """out[r][q] = k(query q, column first + r) for a kernel of pairwise sums."""
    cdef const real *values = <const real *> self.Z.values
    if real is float:
        coordinates_sweep_float(self.form, values, self.Z.columns, self.Z.starts + first, height, body, terms, out)
        finish_row_float(self.form, self.constants, height * KB_PANEL, out)
    else:
        coordinates_sweep_double(self.form, values, self.Z.columns, self.Z.starts + first, height, body, terms, out)
        finish_row_double(self.form, self.constants, height * KB_PANEL, out)


cdef void _multiply(SparseEngine self, const Py_ssize_t *queries, Py_ssize_t width, Py_ssize_t first,
                    Py_ssize_t height, const real *body, const real *terms, real *products,
                    real *out) noexcept nogil:
    """out[r][q] = k(query q, column first + r) for a kernel of the inner product."""
    cdef:
        const real *values = <const real *> self.Z.values
        const real *z_terms = <const real *> self.Z.terms
        Py_ssize_t r, place
        real *t
        real *row
    if real is float:
        csr_dots_float(values, self.Z.columns, self.Z.starts + first, height, body, <float> self.scale, products)
    else:
        csr_dots_double(values, self.Z.columns, self.Z.starts + first, height, body, self.scale, products)
    for r in range(height):
        t, row = products + r * KB_PANEL, out + r * KB_PANEL
        if real is float:
            map_row_float(self.form, self.constants, self.n_constants, t, z_terms[first + r], terms, KB_PANEL, row)
        else:
            map_row_double(self.form, self.constants, self.n_constants, t, z_terms[first + r], terms, KB_PANEL, row)
        if self.bessel:
            map_bessel[real](self.constants[0], width, row)
        if self.mends:
            place = self.Z.starts[first + r]
            mend_sparse_row[real](self.form, self.constants[0], <const real *> self.X.values, self.X.columns,
                                  self.X.starts, queries, width, values + place, self.Z.columns + place,
                                  self.Z.starts[first + r + 1] - place, t, z_terms[first + r], terms, row)
