# The kernel matrix of a sample that grows.

cdef class SampleMatrix:
    cdef readonly Py_ssize_t size, capacity, n_held
    cdef readonly bint single
    cdef object storage
    cdef char *base
    cdef Py_ssize_t stride, item
    cdef void **rows                 # of the kernel values used in one call
    cdef double *steps
    # out[0 : n_held + size] += sum over j < count of coef_j times row j; zeros cost nothing.
    cdef void combine(self, const double *coef, Py_ssize_t count, double *out) noexcept
    # The same over all rows of the sample with few or no zeros, using the symmetry of the sample's own columns.
    cdef void combine_all(self, const double *coef, double *out) noexcept
    # Leave out the columns of the held-out examples from now on.
    cdef void drop_held(self) noexcept
    cdef void _add_symmetric(self, const double *coef, double *out) noexcept
    # out = inner product of row j, from column `start` on, with a.
    cdef double dot_row(self, Py_ssize_t j, Py_ssize_t start, const double *a, Py_ssize_t n) noexcept
