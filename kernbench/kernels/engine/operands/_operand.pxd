# Rows of data prepared for the kernel engine.

from libc.stdint cimport int32_t, int64_t


cdef class Operand:
    cdef readonly Py_ssize_t n_rows, n_features, n_streams
    cdef readonly bint single
    cdef readonly object source          # the rows passed to a callable kernel
    cdef readonly object prepared        # PreparedRows: keeps the memory behind the pointers alive
    cdef readonly tuple components          # operands of the components of a sum or product
    cdef void *values                    # in the layout of prepared.storage
    cdef void *terms                     # one number per row
    cdef const int32_t *columns          # CSR only
    cdef const int64_t *starts           # CSR only
    cdef _point(self)
