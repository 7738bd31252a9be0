"""Tiles of kernels that are sums or products of a term for each pair of entries, dense rows.

Columns are stored in strips of 32 rows, feature by feature, so that one number of a query is combined with 32 columns
at once and their sums stay in registers. Features are summed in passes short enough for a strip to stay in the
first-level cache.
"""

from kernbench.kernels.engine._engine cimport Engine, Panel, new_panel
from kernbench.kernels.engine.values._maps cimport finish_row_double, finish_row_float
from kernbench.kernels.engine.operands._operand cimport Operand
from kernbench.kernels.engine.coordinates._coordinates cimport KB_PASS_BYTES, KB_STRIP, coordinates_strip_double, coordinates_strip_float

ctypedef fused real:
    float
    double

cdef enum:
    PAIR_WORK = 4   # time of one pair of entries in multiply-adds, at least


cdef class CoordinatesEngine(Engine):
    """k(X, Z) where X and Z are stored in strips."""

    def __init__(self, kernel, Operand X, Operand Z):
        super().__init__(kernel, X, Z)
        self.work = PAIR_WORK * X.n_features

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        cdef Panel *panel = new_panel(queries, m, m * self.X.n_features * self.X.n_streams * self.item)
        if panel != NULL:
            if self.single:
                _gather[float](self, panel, m, <float *> panel.body)
            else:
                _gather[double](self, panel, m, <double *> panel.body)
        return panel

    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        if self.single:
            _tile[float](self, <float *> panel.body, m, start, count, <float **> rows, offset)
        else:
            _tile[double](self, <double *> panel.body, m, start, count, <double **> rows, offset)


cdef void _gather(CoordinatesEngine self, Panel *panel, Py_ssize_t m, real *body) noexcept nogil:
    """Rows out of their strips, one after the other."""
    cdef:
        Py_ssize_t length = self.X.n_features * self.X.n_streams, q, k
        const real *entry
    for q in range(m):
        entry = (<const real *> self.X.values + panel.queries[q] // KB_STRIP * length * KB_STRIP
                 + panel.queries[q] % KB_STRIP)
        for k in range(length):
            body[q * length + k] = entry[k * KB_STRIP]


cdef void _tile(CoordinatesEngine self, const real *body, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, real **rows,
                Py_ssize_t offset) noexcept nogil:
    cdef:
        Py_ssize_t d = self.X.n_features, n_streams = self.X.n_streams, length = d * n_streams
        Py_ssize_t most = KB_PASS_BYTES // (KB_STRIP * n_streams * <Py_ssize_t> sizeof(real)), first = 0, j, q, s, width
        const real *strips = <const real *> self.Z.values + start * length  # start is a multiple of KB_STRIP
        const real *strip
    while True:
        for s in range((count + KB_STRIP - 1) // KB_STRIP):
            j = s * KB_STRIP
            strip = strips + j * length + first * n_streams * KB_STRIP
            width = min(<Py_ssize_t> KB_STRIP, count - j)
            if real is float:
                coordinates_strip_float(self.routine, body + first * n_streams, length, m, strip, min(most, d - first),
                                  first == 0, width, rows, offset + j)
            else:
                coordinates_strip_double(self.routine, body + first * n_streams, length, m, strip, min(most, d - first),
                                   first == 0, width, rows, offset + j)
        first += most
        if first >= d:
            break
    for q in range(m):
        if real is float:
            finish_row_float(self.routine, self.constants, count, rows[q] + offset)
        else:
            finish_row_double(self.routine, self.constants, count, rows[q] + offset)
