# The change of the mean loss on a validation sample.

cdef class ValidationLoss:
    cdef object source
    cdef int[::1] columns            # of an id among the responses
    cdef Py_ssize_t[::1] listed      # room for ids without any
    # The ids without a column, each once; until they are forgotten, they have those after the last of `n_columns`.
    cdef list_unknown(self, const Py_ssize_t[::1] ids, Py_ssize_t n_columns)
    cdef void forget(self, const Py_ssize_t[::1] unknown) noexcept
    # The change from f to f + t d, responses u + t v and intercepts at_zero to at_t; `found` are u and v of the unknown.
    cdef double change(self, const Py_ssize_t[::1] ids, const double[::1] u, const double[::1] v, Py_ssize_t n_columns,
                       const double[:, ::1] found, double t, double at_zero, double at_t) except? -1.0
