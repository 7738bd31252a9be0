# The change of the mean loss on a validation sample.

cdef class ValidationLoss:
    cdef object source
    cdef int[::1] columns            # of an id among the responses
    cdef Py_ssize_t[::1] listed      # working memory for ids without a column
    # The distinct ids without a column; until they are released, they have the columns from `n_columns` on.
    cdef list_unknown(self, const Py_ssize_t[::1] ids, Py_ssize_t n_columns)
    cdef void forget(self, const Py_ssize_t[::1] unknown) noexcept
    # The change from f to f + t d, responses u + t v, intercepts at_zero to at_t; `found`: u and v of ids without a
    # column.
    cdef double change(self, const Py_ssize_t[::1] ids, const double[::1] u, const double[::1] v, Py_ssize_t n_columns,
                       const double[:, ::1] found, double t, double at_zero, double at_t) except? -1.0
