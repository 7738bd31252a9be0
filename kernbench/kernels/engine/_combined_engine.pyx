"""Tiles of sums and products of kernels: the tiles of the components, combined while they are in cache.

A combination of several kernels is computed as a combination of two: the first kernel, and the combination of the
others. The second part is written to the result, the first to scratch memory, and then the two are combined; so the
scratch memory is one tile for each component, whatever the size of the matrix. If a component is a Python function,
whole rows replace tiles, a bounded number at a time.
"""

from libc.stdlib cimport free

from kernbench.kernels.engine._engine cimport Engine, Panel, allocate, new_panel
from kernbench.kernels.engine._routines cimport KB_PRODUCT
from kernbench.kernels.engine.operands._operand cimport Operand
from kernbench.kernels.engine._tiles cimport (
    add_row_double, add_row_float, multiply_row_double, multiply_row_float, scale_row_double, scale_row_float,
)

cdef enum:
    ROW_BYTES = 33554432    # of rows of one component, where a component is a Python function


cdef class CombinedEngine(Engine):
    """The sum or product of kernels.

    Parameters
    ----------
    kernel : Sum or Product
    X, Z : Operand
    engines : sequence of Engine
        The engines of the components.
    weights : sequence of float
        The weights of the components; not used in a product.
    """

    cdef Engine left, right             # right is None if there is one component only
    cdef double left_weight, right_weight

    def __init__(self, kernel, Operand X, Operand Z, engines, weights):
        super().__init__(kernel, X, Z)
        self.left, self.left_weight, self.right_weight = engines[0], weights[0], 1.0
        self.tiled, self.work = self.left.tiled, self.left.work
        if len(engines) == 1:
            return
        if len(engines) == 2:
            self.right, self.right_weight = engines[1], weights[1]
        else:
            self.right = CombinedEngine(kernel, X, Z, engines[1:], weights[1:])
        self.tiled = self.tiled and self.right.tiled
        self.work += self.right.work

    cdef Py_ssize_t panel_rows(self) noexcept nogil:
        if self.right is None:
            return self.left.panel_rows()
        return min(self.left.panel_rows(), self.right.panel_rows())

    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil:
        if self.right is None:
            return self.left.tile_width(m)
        return min(self.left.tile_width(m), self.right.tile_width(m))

    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil:
        """Row pointers and a tile for the left part, then the scratch memory of either part."""
        if self.right is None:
            return self.left.scratch_bytes(m)
        return _own_bytes(self, m) + max(self.left.scratch_bytes(m), self.right.scratch_bytes(m))

    cdef Panel *gather(self, const Py_ssize_t *queries, Py_ssize_t m) noexcept nogil:
        cdef Panel *panel = new_panel(queries, m, 0)
        if panel == NULL:
            return NULL
        panel.left = self.left.gather(queries, m)
        if self.right is not None and panel.left != NULL:
            panel.right = self.right.gather(queries, m)
        if panel.left == NULL or (self.right is not None and panel.right == NULL):
            self.release(panel)
            return NULL
        return panel

    cdef void release(self, Panel *panel) noexcept nogil:
        if panel.left != NULL:
            self.left.release(panel.left)
        if panel.right != NULL:
            self.right.release(panel.right)
        free(panel)

    cdef void tile(self, Panel *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil:
        cdef:
            void **mine = <void **> scratch
            char *buffer = <char *> scratch + m * sizeof(void *)
            char *rest
            Py_ssize_t q
        if self.right is None:
            self.left.tile(panel.left, m, start, count, scratch, rows, offset)
            _scale(self, m, count, rows, offset)
            return
        rest = <char *> scratch + _own_bytes(self, m)
        self.right.tile(panel.right, m, start, count, rest, rows, offset)
        for q in range(m):
            mine[q] = buffer + q * count * self.item
        self.left.tile(panel.left, m, start, count, rest, mine, 0)
        _combine(self, m, count, mine, rows, offset)

    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil:
        cdef:
            Py_ssize_t n = self.Z.n_rows, height, first = 0, here, q
            char *buffer
            void **mine
        if self.tiled:
            return Engine.fill(self, queries, m, rows)
        if self.right is None:
            self.left.fill(queries, m, rows)
            _scale(self, m, n, rows, 0)
            return 0
        height = min(m, max(<Py_ssize_t> 1, ROW_BYTES // (n * self.item + 1)))
        mine = <void **> allocate(height * (sizeof(void *) + n * self.item))
        buffer = <char *> mine + height * sizeof(void *)
        for q in range(height):
            mine[q] = buffer + q * n * self.item
        try:
            while first < m:
                here = min(height, m - first)
                self.right.fill(queries + first, here, rows + first)
                self.left.fill(queries + first, here, mine)
                _combine(self, here, n, mine, rows + first, 0)
                first += here
        finally:
            free(mine)
        return 0


cdef size_t _own_bytes(CombinedEngine self, Py_ssize_t m) noexcept nogil:
    """Scratch bytes of a tile of the left part, rounded up for alignment."""
    return (m * (sizeof(void *) + self.tile_width(m) * self.item) + 63) // 64 * 64


cdef void _combine(CombinedEngine self, Py_ssize_t m, Py_ssize_t n, void **left, void **rows,
                   Py_ssize_t offset) noexcept nogil:
    """Combine rows[q][offset : offset + n], the right part, with left[q][0 : n] in place."""
    cdef Py_ssize_t q
    cdef char *row
    for q in range(m):
        row = <char *> rows[q] + offset * self.item
        if self.routine == KB_PRODUCT:
            if self.single:
                multiply_row_float(<float *> left[q], n, <float *> row)
            else:
                multiply_row_double(<double *> left[q], n, <double *> row)
        elif self.single:
            add_row_float(<float> self.left_weight, <float *> left[q], <float> self.right_weight, n, <float *> row)
        else:
            add_row_double(self.left_weight, <double *> left[q], self.right_weight, n, <double *> row)


cdef void _scale(CombinedEngine self, Py_ssize_t m, Py_ssize_t n, void **rows, Py_ssize_t offset) noexcept nogil:
    """Combine a single component: multiply rows[q][offset : offset + n] by its weight."""
    cdef Py_ssize_t q
    cdef char *row
    if self.routine == KB_PRODUCT:
        return
    for q in range(m):
        row = <char *> rows[q] + offset * self.item
        if self.single:
            scale_row_float(<float> self.left_weight, n, <float *> row)
        else:
            scale_row_double(self.left_weight, n, <double *> row)
