# Two sets of rows and a kernel, multiplied out tile by tile.

from kernbench.kernels._operand cimport Operand


cdef enum Form:
    GAUSSIAN
    LAPLACIAN
    POLYNOMIAL
    PRECOMPUTED
    CALLABLE


cdef enum:
    PANEL_ROWS = 256       # queries that go through the tiles together


cdef class Engine:
    cdef readonly object kernel
    cdef readonly Operand X, Z           # queries, columns
    cdef Form form
    cdef double constant, shift          # gamma or scale; c
    cdef int degree
    cdef readonly bint single
    cdef readonly Py_ssize_t item        # bytes per kernel value

    # Gather up to panel_rows() queries side by side; release with free().
    cdef void *gather(self, const Py_ssize_t *queries, Py_ssize_t m) except NULL nogil
    cdef Py_ssize_t panel_rows(self) noexcept nogil
    # Columns per tile and scratch bytes for a panel of m queries.
    cdef Py_ssize_t tile_width(self, Py_ssize_t m) noexcept nogil
    cdef size_t scratch_bytes(self, Py_ssize_t m) noexcept nogil
    # rows[q][offset : offset + count] = k(query q, Z[start : start + count]); scratch belongs to the calling thread.
    cdef void tile(self, void *panel, Py_ssize_t m, Py_ssize_t start, Py_ssize_t count, void *scratch, void **rows,
                   Py_ssize_t offset) noexcept nogil
    # Fill rows[q][0 : Z.n_rows] with k(X[queries[q]], Z) for the m queries.
    cdef int fill(self, const Py_ssize_t *queries, Py_ssize_t m, void **rows) except -1 nogil


cdef void *allocate(size_t n_bytes) except NULL nogil
