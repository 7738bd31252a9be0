# The products of _passes.h, as Cython sees them.

from libc.stdint cimport int32_t, int64_t

cdef extern from "_passes.h" nogil:
    void dense_scores_float(const float *x, Py_ssize_t n, Py_ssize_t d, const double *w, double *out)
    void dense_scores_double(const double *x, Py_ssize_t n, Py_ssize_t d, const double *w, double *out)
    void dense_combine_float(const float *x, Py_ssize_t n, Py_ssize_t d, const double *g, double *sums)
    void dense_combine_double(const double *x, Py_ssize_t n, Py_ssize_t d, const double *g, double *sums)
    void dense_gather_float(const float *x, Py_ssize_t d, const Py_ssize_t *rows, Py_ssize_t count, double *out)
    void dense_gather_double(const double *x, Py_ssize_t d, const Py_ssize_t *rows, Py_ssize_t count, double *out)
    void sparse_scores_float(const float *values, const int32_t *columns, const int64_t *starts, Py_ssize_t start,
                             Py_ssize_t stop, const double *w, double *out)
    void sparse_scores_double(const double *values, const int32_t *columns, const int64_t *starts, Py_ssize_t start,
                              Py_ssize_t stop, const double *w, double *out)
    void sparse_combine_float(const float *values, const int32_t *columns, const int64_t *starts, Py_ssize_t start,
                              Py_ssize_t stop, const double *g, double *sums)
    void sparse_combine_double(const double *values, const int32_t *columns, const int64_t *starts, Py_ssize_t start,
                               Py_ssize_t stop, const double *g, double *sums)
    void sparse_gather_float(const float *values, const int32_t *columns, const int64_t *starts, Py_ssize_t d,
                             const Py_ssize_t *rows, Py_ssize_t count, double *out)
    void sparse_gather_double(const double *values, const int32_t *columns, const int64_t *starts, Py_ssize_t d,
                              const Py_ssize_t *rows, Py_ssize_t count, double *out)
