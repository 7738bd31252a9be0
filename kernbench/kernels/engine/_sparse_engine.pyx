"""Tiles of CSR rows: the columns' stored entries times dense panels of 64 queries.

Each stored entry costs 64 multiply-adds (or other terms) that vectorise, which beats dense products if most of the
entries are zero. Kernels of the inner product are mapped along the queries; then the tile is transposed into rows.

* Rows of very many features: a panel holds only the features that its queries store, and each tile's entries are
  filtered accordingly. Of every other feature it holds four bytes, which say that it has no position in the panel.
* Few queries, for which a panel would be mostly empty: panels of 8, each finished row by row; if even these would have
  too many features, each query is made dense separately, and inner products are computed one by one.
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from kernbench.kernels.engine._engine cimport Engine, Panel, new_panel
from kernbench.kernels.engine.values._maps cimport finish_row_double, finish_row_float, map_row_double, map_row_float
from kernbench.kernels.engine.values._matern cimport MaternProfile
from kernbench.kernels.engine._near cimport gemm_scale, mend_sparse_row, near_floor, needs_mending
from kernbench.kernels.engine.operands._operand cimport Operand
from kernbench.kernels.engine._routines cimport KB_GAUSSIAN_OF_DIFFERENCES, KB_MATERN, kb_routine
from kernbench.kernels.engine.coordinates._coordinates cimport coordinates_sweep_double, coordinates_sweep_float
from kernbench.kernels.engine._tiles cimport (
    KB_NARROW, KB_PANEL, add_columns_double, add_columns_float, csr_dots_double, csr_dots_float,
    csr_dots_narrow_double, csr_dots_narrow_float, untangle_double, untangle_float,
)

import numpy as np

from kernbench.kernels.engine.values._matern import matern_profile

ctypedef fused real:
    float
    double

cdef enum:
    STEP = 64                   # columns per step of the sweep: the step stays in the first-level cache
    STRETCH = 512               # columns per tile
    MOST_PANELS = 4             # of 64 queries, processed one after the other
    PANEL_BYTES = 16777216      # largest size of dense copies of the queries (at least one panel of 64)
    WIDE_BYTES = 2097152        # a panel of 64 larger than this holds only the features that its queries store
    MAP_WORK = 16               # multiply-adds that take as long as one value of a map
    PAIR_WORK = 4               # ... and as one term of a coordinatewise sum
    FEW = 4                     # up to this many queries are cheaper one by one than in a wide panel
    FEW_NARROW = 32             # up to this many queries are cheaper in narrow panels


cdef class SparseEngine(Engine):
    """k(X, Z) where X and Z are CSR.

    Parameters
    ----------
    kernel, X, Z
        See Engine.
    floor : float, optional
        For a Gaussian kernel: sums of two `row_terms` above which the exponents of near rows are recomputed from
        differences. Other rows are so far apart there that their values are 0, as in `GaussianOfDifferences`.
    """

    cdef double scale
    cdef bint mends, coordinatewise
    cdef kb_routine map         # of inner products: to values or, for Matern kernels and differences, to distances
    cdef bint differences       # half squared distances, of a Gaussian kernel, are mapped in the end
    cdef double rate            # ... by exp(-rate t)
    cdef double floor           # squared norms above which near pairs are recomputed
    cdef MaternProfile profile  # of a Matern kernel, or None
    cdef bint wide              # panels hold the stored features only
    cdef Py_ssize_t longest     # largest number of stored entries of STEP columns

    def __init__(self, kernel, Operand X, Operand Z, floor=None):
        super().__init__(kernel, X, Z)
        self.scale = gemm_scale(self.routine, self.constants)
        self.differences, self.rate = floor is not None, 1.0
        self.mends = self.differences or needs_mending(self.routine, self.constants)
        self.floor = near_floor(self.routine, self.constants) if floor is None else floor
        self.map = KB_MATERN if self.differences else self.routine
        if self.routine == KB_MATERN:
            self.profile = matern_profile(self.constants[0], self.single)
        self.coordinatewise = kernel.coordinatewise
        self.wide = X.n_features * X.n_streams * KB_PANEL * self.item > WIDE_BYTES
        ends = np.minimum(np.arange(0, Z.n_rows + STEP, STEP), Z.n_rows)
        self.work = MAP_WORK + (PAIR_WORK if self.coordinatewise else 1) * len(Z.prepared.columns) / max(Z.n_rows, 1)
        self.longest = np.diff(Z.prepared.starts[ends]).max(initial=0)

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        cdef Py_ssize_t bytes_per_panel = self.X.n_features * self.X.n_streams * KB_PANEL * self.item + 1
        if self.wide:
            return KB_PANEL
        return KB_PANEL * max(<Py_ssize_t> 1, min(<Py_ssize_t> MOST_PANELS, PANEL_BYTES // bytes_per_panel))

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        return STRETCH

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        cdef size_t sifted = self.longest * (self.X.n_streams * self.item + sizeof(int32_t))
        return 2 * STEP * KB_PANEL * self.item + (STEP + 1) * sizeof(int64_t) + (sifted if self.wide else 0)

    cdef bint _one_by_one(self, Py_ssize_t m) noexcept nogil:
        return self.wide and m <= FEW and not self.coordinatewise

    cdef bint _narrow(self, Py_ssize_t m) noexcept nogil:
        return not self.wide and m <= FEW_NARROW and not self.coordinatewise

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        cdef:
            Py_ssize_t d = self.X.n_features, height = (m + KB_PANEL - 1) // KB_PANEL * KB_PANEL, n_stored = 0, q
            size_t head = 0, body_bytes
            Panel *panel
        if self._one_by_one(m):
            body_bytes = m * d * self.item
        elif self._narrow(m):
            body_bytes = (m + KB_NARROW - 1) // KB_NARROW * KB_NARROW * d * self.item
        elif self.wide:
            for q in range(m):
                n_stored += self.X.starts[queries[q] + 1] - self.X.starts[queries[q]]
            head = _map_bytes(d)
            body_bytes = head + (1 + min(n_stored, d)) * self.X.n_streams * KB_PANEL * self.item
        else:
            body_bytes = height * d * self.X.n_streams * self.item
        panel = new_panel(queries, m, body_bytes)
        if panel == NULL:
            return NULL
        if not self.wide or self._one_by_one(m):
            memset(panel.body, 0, body_bytes)
        else:
            memset(panel.body, 0, head)
        if self.single:
            _gather[float](self, panel, m, <float *> panel.body)
        else:
            _gather[double](self, panel, m, <double *> panel.body)
        return panel

    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        if self._one_by_one(m):
            if self.single:
                _few[float](self, panel, m, start, count, <float *> scratch, <float **> rows, offset)
            else:
                _few[double](self, panel, m, start, count, <double *> scratch, <double **> rows, offset)
        elif self._narrow(m):
            if self.single:
                _narrow_tile[float](self, panel, m, start, count, <float *> scratch, <float **> rows, offset)
            else:
                _narrow_tile[double](self, panel, m, start, count, <double *> scratch, <double **> rows, offset)
        elif self.single:
            _sweep[float](self, panel, m, start, count, <float *> scratch, <float **> rows, offset, NULL, NULL)
        else:
            _sweep[double](self, panel, m, start, count, <double *> scratch, <double **> rows, offset, NULL, NULL)

    cdef void add_weighted(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch,
                           void **tile, const double *weights, double *out) noexcept nogil:
        if self._one_by_one(m) or self._narrow(m):
            Engine.add_weighted(self, panel, m, start, count, scratch, tile, weights, out)
        elif self.single:
            _sweep[float](self, panel, m, start, count, <float *> scratch, NULL, 0, weights, out)
        else:
            _sweep[double](self, panel, m, start, count, <double *> scratch, NULL, 0, weights, out)


cdef size_t _map_bytes(Py_ssize_t d) noexcept nogil:
    """Bytes for the positions of d features in a panel, in whole cache lines."""
    return (d * sizeof(int32_t) + 63) // 64 * 64


cdef void _gather(SparseEngine self, Panel *panel, Py_ssize_t m, real *body) noexcept nogil:
    """Groups of KB_PANEL rows, transposed: contiguous entries of one feature; few rows: one after the other."""
    cdef:
        Py_ssize_t d = self.X.n_features, n_streams = self.X.n_streams, q, i, s, used = 0
        Py_ssize_t length = n_streams * KB_PANEL
        const real *values = <const real *> self.X.values
        int32_t *place = <int32_t *> panel.body      # wide panels: the position of a feature, or 0, which holds zeros
        real *slot
        int64_t k
        int32_t column
    if self.wide and not self._one_by_one(m):
        body = <real *> (<char *> panel.body + _map_bytes(d))
        memset(body, 0, length * sizeof(real))
    for q in range(m):
        i = panel.queries[q]
        (<real *> panel.terms)[q] = (<real *> self.X.terms)[i]
        if self._one_by_one(m):
            for k in range(self.X.starts[i], self.X.starts[i + 1]):
                body[q * d + self.X.columns[k]] = values[k]
            continue
        if self._narrow(m):
            slot = body + q // KB_NARROW * KB_NARROW * d + q % KB_NARROW
            for k in range(self.X.starts[i], self.X.starts[i + 1]):
                slot[<Py_ssize_t> self.X.columns[k] * KB_NARROW] = values[k]
            continue
        slot = body + (q // KB_PANEL) * d * length + q % KB_PANEL
        for k in range(self.X.starts[i], self.X.starts[i + 1]):
            column = self.X.columns[k]
            if self.wide:
                if place[column] == 0:
                    used += 1
                    place[column] = <int32_t> used
                    memset(body + used * length, 0, length * sizeof(real))
                column = place[column]
            for s in range(n_streams):
                slot[(<Py_ssize_t> column * n_streams + s) * KB_PANEL] = values[k * n_streams + s]


cdef void _few(SparseEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
               real **rows, Py_ssize_t offset) noexcept nogil:
    """Compute one inner product after the other, then map along the columns."""
    cdef:
        Py_ssize_t q, r
        int64_t k
        const real *values = <const real *> self.Z.values
        const real *x
        real total
    for q in range(m):
        x = <real *> panel.body + q * self.X.n_features
        for r in range(count):
            total = 0
            for k in range(self.Z.starts[start + r], self.Z.starts[start + r + 1]):
                total += values[k] * x[self.Z.columns[k]]
            products[r] = <real> self.scale * total
        _finish[real](self, panel, q, start, count, products, rows[q] + offset)


cdef void _narrow_tile(SparseEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count,
                       real *products, real **rows, Py_ssize_t offset) noexcept nogil:
    """Compute inner products with KB_NARROW queries at a time, then map each row along the columns."""
    cdef:
        Py_ssize_t group, q, r, first
        const real *body
        real *together = products + STRETCH
    for group in range((m + KB_NARROW - 1) // KB_NARROW):
        first = group * KB_NARROW
        body = <const real *> panel.body + first * self.X.n_features
        if real is float:
            csr_dots_narrow_float(<const float *> self.Z.values, self.Z.columns, self.Z.starts + start, count, body,
                                  <float> self.scale, together)
        else:
            csr_dots_narrow_double(<const double *> self.Z.values, self.Z.columns, self.Z.starts + start, count, body,
                                   self.scale, together)
        for q in range(first, min(m, first + KB_NARROW)):
            for r in range(count):
                products[r] = together[r * KB_NARROW + q - first]
            _finish[real](self, panel, q, start, count, products, rows[q] + offset)


cdef void _finish(SparseEngine self, Panel *panel, Py_ssize_t q, Py_ssize_t start, Py_ssize_t count, real *products,
                  real *out) noexcept nogil:
    """The values of query q at `count` columns, of its scaled inner products with them."""
    cdef:
        Py_ssize_t r
        int64_t k
        const real *values = <const real *> self.Z.values
        const real *z_terms = <const real *> self.Z.terms + start
        real *terms = <real *> panel.terms
    if real is float:
        map_row_float(self.map, self.constants, self.n_constants, products, terms[q], z_terms, count, out)
    else:
        map_row_double(self.map, self.constants, self.n_constants, products, terms[q], z_terms, count, out)
    if self.mends:
        for r in range(count):
            k = self.Z.starts[start + r]
            mend_sparse_row[real](self.routine, self.floor, <const real *> self.X.values, self.X.columns,
                                  self.X.starts, panel.queries + q, 1, values + k, self.Z.columns + k,
                                  self.Z.starts[start + r + 1] - k, products + r, z_terms[r], terms + q, out + r)
    _map_distances[real](self, count, out)


cdef inline void _map_distances(SparseEngine self, Py_ssize_t count, real *out) noexcept nogil:
    """From distances to values, in place, for the kernels that take distances."""
    if self.profile is not None:
        self.profile.map(count, out)
    elif self.differences:
        if real is float:
            finish_row_float(KB_GAUSSIAN_OF_DIFFERENCES, &self.rate, count, out)
        else:
            finish_row_double(KB_GAUSSIAN_OF_DIFFERENCES, &self.rate, count, out)


cdef struct Entries:
    const void *values
    const int32_t *columns
    const int64_t *starts


cdef void _sift(SparseEngine self, Panel *panel, Py_ssize_t first, Py_ssize_t height, real *scratch,
                Entries *out) noexcept nogil:
    """The stored entries of `height` columns in terms of a wide panel: positions instead of features.

    For inner products, features that no query stores are left out; for terms of pairs they map to position 0, zeros.
    """
    cdef:
        int64_t *starts = <int64_t *> (scratch + 2 * STEP * KB_PANEL)
        real *values = <real *> (starts + STEP + 1)
        int32_t *columns = <int32_t *> (values + self.longest * self.X.n_streams)
        const real *stored = <const real *> self.Z.values
        const int32_t *place = <const int32_t *> panel.body
        Py_ssize_t r, s, n_streams = self.X.n_streams
        int64_t k, n = 0
        int32_t found
    for r in range(height):
        starts[r] = n
        for k in range(self.Z.starts[first + r], self.Z.starts[first + r + 1]):
            found = place[self.Z.columns[k]]
            columns[n] = found
            for s in range(n_streams):
                values[n * n_streams + s] = stored[k * n_streams + s]
            n += found != 0 or self.coordinatewise
    starts[height] = n
    out.values, out.columns, out.starts = values, columns, starts


cdef void _sweep(SparseEngine self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real *products,
                 real **rows, Py_ssize_t offset, const double *weights, double *out) noexcept nogil:
    """Compute a tile and write it to `rows` or, given `weights`, add its weighted sum over the queries to `out`."""
    cdef:
        Py_ssize_t group, n_groups = (m + KB_PANEL - 1) // KB_PANEL, first, step, height, width
        Py_ssize_t group_length = self.X.n_features * self.X.n_streams * KB_PANEL
        const real *terms
        const real *body
        real *mapped
        Entries entries
    for group in range(n_groups):
        terms = <const real *> panel.terms + group * KB_PANEL
        body = <const real *> panel.body + group * group_length
        if self.wide:  # one group
            body = <const real *> (<char *> panel.body + _map_bytes(self.X.n_features))
        width = min(<Py_ssize_t> KB_PANEL, m - group * KB_PANEL)
        for step in range((count + STEP - 1) // STEP):
            first = start + step * STEP
            height = min(<Py_ssize_t> STEP, start + count - first)
            entries.values, entries.columns = self.Z.values, self.Z.columns
            entries.starts = self.Z.starts + first
            if self.wide:
                _sift[real](self, panel, first, height, products, &entries)
            if self.coordinatewise:
                mapped = products
                _add_up[real](self, entries, height, body, terms, mapped)
            else:
                mapped = products + STEP * KB_PANEL
                _multiply[real](self, entries, panel.queries + group * KB_PANEL, width, first, height, body, terms,
                                products, mapped)
            if weights != NULL:
                if real is float:
                    add_columns_float(mapped, height, weights + group * KB_PANEL, width, out + step * STEP)
                else:
                    add_columns_double(mapped, height, weights + group * KB_PANEL, width, out + step * STEP)
            elif real is float:
                untangle_float(mapped, height, width, rows + group * KB_PANEL, offset + step * STEP)
            else:
                untangle_double(mapped, height, width, rows + group * KB_PANEL, offset + step * STEP)


cdef void _add_up(SparseEngine self, Entries entries, Py_ssize_t height, const real *body, const real *terms,
                  real *out) noexcept nogil:
    """out[r][q] = k(query q, r-th of the columns) for a kernel of coordinatewise sums."""
    cdef const real *values = <const real *> entries.values
    if real is float:
        coordinates_sweep_float(self.routine, values, entries.columns, entries.starts, height, body, terms, out)
        finish_row_float(self.routine, self.constants, height * KB_PANEL, out)
    else:
        coordinates_sweep_double(self.routine, values, entries.columns, entries.starts, height, body, terms, out)
        finish_row_double(self.routine, self.constants, height * KB_PANEL, out)


cdef void _multiply(SparseEngine self, Entries entries, const Py_ssize_t *queries, Py_ssize_t width, Py_ssize_t first,
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
        csr_dots_float(<const float *> entries.values, entries.columns, entries.starts, height, body,
                       <float> self.scale, products)
    else:
        csr_dots_double(<const double *> entries.values, entries.columns, entries.starts, height, body, self.scale,
                        products)
    for r in range(height):
        t, row = products + r * KB_PANEL, out + r * KB_PANEL
        if real is float:
            map_row_float(self.map, self.constants, self.n_constants, t, z_terms[first + r], terms, KB_PANEL, row)
        else:
            map_row_double(self.map, self.constants, self.n_constants, t, z_terms[first + r], terms, KB_PANEL, row)
        if self.mends:
            place = self.Z.starts[first + r]
            mend_sparse_row[real](self.routine, self.floor, <const real *> self.X.values, self.X.columns,
                                  self.X.starts, queries, width, values + place, self.Z.columns + place,
                                  self.Z.starts[first + r + 1] - place, t, z_terms[first + r], terms, row)
        _map_distances[real](self, KB_PANEL, row)
