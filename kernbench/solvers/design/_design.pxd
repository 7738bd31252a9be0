# Features or a kernel, from which scores are computed, for compiled solvers.

from libc.stdint cimport int32_t, int64_t


cdef class Design:
    cdef readonly Py_ssize_t n_samples, n_coef
    cdef readonly bint is_kernel
    cdef readonly long long n_passes, n_kernel_evaluations
    cdef readonly long long n_values     # stored numbers of the features; 0 for kernels
    # scores_i = f(x_i); element = sum_i g_i k(x_i, .); <u, v>, where the scores of v are needed for a kernel only.
    cdef int score(self, const double *coef, double *scores) except -1 nogil
    cdef int gather_up(self, const double *g, double *element) except -1 nogil
    cdef double inner(self, const double *u, const double *v, const double *scores_of_v) noexcept nogil
    # out_k = sum_i h_i x_ik^2; 1 where the features are not in memory.
    cdef int square_sums(self, const double *h, double *out) except -1 nogil
    # out = sum_i h_i (x_i - m)(x_i - m)' over `count` rows in increasing order, m the row mask_i of `means`, or the first
    # one without a mask; the lower triangle as LAPACK sees it. Not for kernels.
    cdef int moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                     const double *means, double *out) except -1 nogil


cdef class FeatureDesign(Design):
    cdef readonly object X
    cdef object arrays                   # keeps the memory behind the pointers alive
    cdef bint single, is_sparse, threaded
    cdef Py_ssize_t n_chunks
    cdef const void *values              # dense rows, or the stored entries of CSR
    cdef const int32_t *columns          # CSR only
    cdef const int64_t *starts           # CSR only
    cdef double[:, ::1] sums             # of the chunks

    # Rows, dense: out is count x n_coef.
    cdef void fetch(self, const Py_ssize_t *rows, Py_ssize_t count, double *out) noexcept nogil
    cdef int _moments(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, const unsigned char *mask,
                      const double *means, double *sums) noexcept nogil
    cdef bint _multiplies_entries(self, const Py_ssize_t *rows, Py_ssize_t count, const double *means) noexcept nogil
    cdef Py_ssize_t _number_of_lanes(self, Py_ssize_t count) noexcept nogil
    cdef void _add_products(self, const Py_ssize_t *rows, Py_ssize_t count, const double *h, double *sums) noexcept nogil
    cdef void _score(self, Py_ssize_t start, Py_ssize_t stop, const double *coef, double *scores) noexcept nogil
    cdef void _gather_up(self, Py_ssize_t start, Py_ssize_t stop, const double *g, double *sums) noexcept nogil


cdef class KernelDesign(Design):
    cdef object rows                     # KernelRows, if the matrix is not kept
    cdef FeatureDesign matrix            # the kernel matrix, if it is


cdef Py_ssize_t number_of_chunks(Py_ssize_t n_samples, Py_ssize_t n_coef) noexcept nogil
cdef double dot(const double *u, const double *v, Py_ssize_t n) noexcept nogil
