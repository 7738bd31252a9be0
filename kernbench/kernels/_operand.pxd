# Rows of data prepared for the kernel engine.

from libc.stdint cimport int32_t, int64_t


cdef class Operand:
    cdef readonly Py_ssize_t n_rows, n_features
    cdef readonly bint is_sparse, single
    cdef readonly object arrays          # keeps the memory behind the pointers alive
    cdef readonly object source          # what a callable kernel is shown
    cdef void *values                    # dense rows, or the stored entries of CSR
    cdef const int32_t *columns          # CSR only
    cdef const int64_t *starts           # CSR only
    cdef void *norms                     # gamma |x|^2, or |x|_1 for the Laplacian kernel
