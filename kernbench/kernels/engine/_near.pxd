# Kernel values for which inner products are not accurate enough; see the .pyx.

from libc.stdint cimport int32_t, int64_t

from kernbench.kernels.engine._routines cimport kb_routine

ctypedef fused real:
    float
    double

cdef double gemm_scale(kb_routine routine, const double *constants) noexcept
cdef bint needs_mending(kb_routine routine, const double *constants) noexcept
cdef double near_floor(kb_routine routine, const double *constants) noexcept

# Recompute out[j] from differences wherever the rows x and z_j are near each other: squared distances for Matern
# kernels, half of them for Gaussian ones, values for the arc-cosine kernel.
cdef void mend_dense_row(kb_routine routine, double floor, const real *x, const real *z, Py_ssize_t d, const real *t,
                         real a, const real *b, Py_ssize_t n, real *out) noexcept nogil

# The same for one CSR row z against the first m queries of a panel, which are rows of X; a belongs to z.
cdef void mend_sparse_row(kb_routine routine, double floor, const real *x_values, const int32_t *x_columns,
                          const int64_t *x_starts, const Py_ssize_t *queries, Py_ssize_t m, const real *z_values,
                          const int32_t *z_columns, Py_ssize_t n_stored, const real *t, real a, const real *b,
                          real *out) noexcept nogil
