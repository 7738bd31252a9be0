# The map of a Matern kernel; see the .pyx.

from libc.stdint cimport int32_t


cdef class MaternProfile:
    cdef double nu
    cdef bint single
    cdef int twice_nu                # of a closed form, or 0
    cdef int32_t first, n_pieces
    cdef const void *pieces
    cdef object table                # keeps the memory behind the pointer alive
    # Replace out[j], a squared distance in the kernel's unit, by the kernel value.
    cdef void map(self, Py_ssize_t n, void *out) noexcept nogil
