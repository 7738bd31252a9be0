# Rows of a training kernel matrix with a bounded cache.

from kernbench.kernels.engine._engine cimport Engine


cdef class CachedRows:
    cdef readonly object kernel, dtype
    cdef readonly Py_ssize_t n_rows      # rows and columns now (fewer while restricted)
    cdef readonly Py_ssize_t capacity    # rows the cache holds, and the largest batch `fetch` takes
    cdef readonly long long n_evaluations, n_cached
    cdef readonly bint single, can_restrict
    cdef readonly bint on_demand         # rows may be fetched one by one: all fit the cache, none calls Python
    cdef readonly bint cheap             # values are cheaper to compute than to cache
    cdef bint keep                       # cache rows even so: several solvers share them
    cdef object operand, pool
    cdef Engine engine
    cdef Py_ssize_t pool_bytes, row_bytes, n_used
    cdef char *base
    cdef bint reserved                   # slots were assigned to rows that are not yet computed
    cdef bint in_place                   # a precomputed matrix of the right type: its rows are used in place
    cdef Py_ssize_t[::1] slot_of         # slot of a row, or -1
    cdef Py_ssize_t[::1] owner           # row of a slot, or -1
    cdef Py_ssize_t[::1] newer, older    # the order of last use, a ring through slot `capacity`

    # Point rows[q] at row indices[q]; valid until the next call. m <= capacity.
    cdef int fetch(self, const Py_ssize_t *indices, Py_ssize_t m, void **rows) except -1 nogil
    # rows[q][0 : m] = K(members[q], members), not cached.
    cdef int fetch_square(self, const Py_ssize_t[::1] members, void **rows) except -1
    cdef bint holds(self, Py_ssize_t index) noexcept nogil
    cdef void _touch(self, Py_ssize_t slot) noexcept nogil
    cdef void _link(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t _make_room(self) noexcept nogil
