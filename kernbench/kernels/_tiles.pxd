# The tile loops of _tiles.h, as Cython sees them.

from libc.stdint cimport int32_t, int64_t

cdef extern from "_tiles.h" nogil:
    enum: KB_PANEL

    void gaussian_row_float(const float *t, float a, const float *b, ptrdiff_t n, float *out)
    void gaussian_row_double(const double *t, double a, const double *b, ptrdiff_t n, double *out)
    void laplacian_row_float(const float *t, float gamma, ptrdiff_t n, float *out)
    void laplacian_row_double(const double *t, double gamma, ptrdiff_t n, double *out)
    void polynomial_row_float(const float *t, float c, int degree, ptrdiff_t n, float *out)
    void polynomial_row_double(const double *t, double c, int degree, ptrdiff_t n, double *out)
    void turn_float(const float *z, ptrdiff_t n, ptrdiff_t d, float *zt)
    void turn_double(const double *z, ptrdiff_t n, ptrdiff_t d, double *zt)
    void l1_row_float(const float *x, const float *zt, ptrdiff_t d, ptrdiff_t n, float *out)
    void l1_row_double(const double *x, const double *zt, ptrdiff_t d, ptrdiff_t n, double *out)
    void csr_dots_float(const float *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                        const float *panel, float scale, float *out)
    void csr_dots_double(const double *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                         const double *panel, double scale, double *out)
    void csr_l1_float(const float *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                      const float *panel, const float *query_norms, float *out)
    void csr_l1_double(const double *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                       const double *panel, const double *query_norms, double *out)
    void untangle_float(const float *tile, ptrdiff_t n_rows, ptrdiff_t n_queries, float **rows, ptrdiff_t offset)
    void untangle_double(const double *tile, ptrdiff_t n_rows, ptrdiff_t n_queries, double **rows, ptrdiff_t offset)
    double dot_row_float(const float *row, const double *a, ptrdiff_t n)
    double dot_row_double(const double *row, const double *a, ptrdiff_t n)
    void add_rows_float(float **rows, const double *steps, ptrdiff_t n_rows, ptrdiff_t start, ptrdiff_t stop,
                        double *g)
    void add_rows_double(double **rows, const double *steps, ptrdiff_t n_rows, ptrdiff_t start, ptrdiff_t stop,
                         double *g)
    void step_responses_float(const float *row, const double *y, double step, double shrink, double share, ptrdiff_t n,
                              double *c, double *average)
    void step_responses_double(const double *row, const double *y, double step, double shrink, double share,
                               ptrdiff_t n, double *c, double *average)
