# Kernel values that inner products are not enough for; see the .pyx.

from libc.stdint cimport int32_t, int64_t

from kernbench.kernels.engine._routines cimport kb_routine

ctypedef fused real:
    float
    double

cdef double gemm_scale(kb_routine routine, const double *constants) noexcept
cdef bint has_bessel(kb_routine routine, const double *constants) noexcept
cdef bint needs_mending(kb_routine routine, const double *constants) noexcept

# out[j], a squared distance, becomes the Matern kernel of order nu.
cdef void map_bessel(double nu, Py_ssize_t n, real *out) noexcept nogil

# out[j] = k(x, z_j) computed again, from differences, wherever the rows are near each other.
cdef void mend_dense_row(kb_routine routine, double nu, const real *x, const real *z, Py_ssize_t d, const real *t, real a,
                         const real *b, Py_ssize_t n, real *out) noexcept nogil

# The same for one CSR row z against the first m queries of a panel, which are rows of X; a belongs to z.
cdef void mend_sparse_row(kb_routine routine, double nu, const real *x_values, const int32_t *x_columns,
                          const int64_t *x_starts, const Py_ssize_t *queries, Py_ssize_t m, const real *z_values,
                          const int32_t *z_columns, Py_ssize_t n_stored, const real *t, real a, const real *b,
                          real *out) noexcept nogil
