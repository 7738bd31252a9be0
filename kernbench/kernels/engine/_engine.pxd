# The kernel between two sets of rows, tile by tile.

from kernbench.kernels.engine._routines cimport kb_routine
from kernbench.kernels.engine.operands._operand cimport Operand


cdef enum:
    PANEL_ROWS = 512       # largest number of queries of a panel


cdef struct Panel:
    Py_ssize_t queries[PANEL_ROWS]   # indices of these rows of X
    void *terms                      # their row terms
    void *body                       # their entries, in the layout of the engine
    Panel *left                      # panels of the two components of a sum or product
    Panel *right


cdef class Engine:
    cdef readonly object kernel
    cdef readonly Operand X, Z           # queries, columns
    cdef readonly bint single
    cdef readonly Py_ssize_t item        # bytes per kernel value
    cdef readonly bint tiled             # whether tiles can be computed, or only rows (with a Python function)
    cdef kb_routine routine
    cdef const double *constants
    cdef Py_ssize_t n_constants
    cdef double work                     # time per kernel value, in multiply-adds
    cdef object _constants               # keeps the memory behind the pointer alive

    # Gather up to panel_rows() queries; NULL if memory runs out. Free the panel by release().
    cdef Py_ssize_t panel_rows(self) noexcept nogil
    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil
    cdef void release(self, Panel *panel) noexcept nogil
    # Columns per tile (a multiple of 64) and scratch bytes for a panel of m queries.
    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil
    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil
    # rows[q][offset : offset + count] = k(query q, Z[start : start + count]), start a multiple of 64, count at most a
    # tile's width; scratch belongs to the calling thread.
    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil
    # out[0 : count] += sum over q of weights[q] k(query q, Z[start : start + count]): a tile whose values are not kept.
    # tile[q]: m rows of a tile's width as working memory of the calling thread.
    cdef void add_weighted(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch,
                           void **tile, const double *weights, double *out) noexcept nogil
    # Fill rows[q][0 : Z.n_rows] with k(X[queries[q]], Z) for the m queries.
    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil


cdef void *allocate(size_t n_bytes) except NULL nogil
cdef Panel *new_panel(const Py_ssize_t *queries, Py_ssize_t m, size_t body_bytes) noexcept nogil
