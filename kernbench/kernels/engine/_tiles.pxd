# The tile loops of _tiles.h, as Cython sees them.

from libc.stdint cimport int32_t, int64_t

cdef extern from "_tiles.h" nogil:
    enum: KB_PANEL
    enum: KB_NARROW

    void csr_dots_float(const float *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                        const float *panel, float scale, float *out)
    void csr_dots_double(const double *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                         const double *panel, double scale, double *out)
    void csr_dots_narrow_float(const float *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                               const float *panel, float scale, float *out)
    void csr_dots_narrow_double(const double *values, const int32_t *columns, const int64_t *starts, ptrdiff_t n_rows,
                                const double *panel, double scale, double *out)
    void untangle_float(const float *tile, ptrdiff_t n_rows, ptrdiff_t n_queries, float **rows, ptrdiff_t offset)
    void untangle_double(const double *tile, ptrdiff_t n_rows, ptrdiff_t n_queries, double **rows, ptrdiff_t offset)
    void add_columns_float(const float *tile, ptrdiff_t n_rows, const double *weights, ptrdiff_t n_queries,
                           double *out)
    void add_columns_double(const double *tile, ptrdiff_t n_rows, const double *weights, ptrdiff_t n_queries,
                            double *out)
    void add_row_float(float u, const float *a, float v, ptrdiff_t n, float *out)
    void add_row_double(double u, const double *a, double v, ptrdiff_t n, double *out)
    void multiply_row_float(const float *a, ptrdiff_t n, float *out)
    void multiply_row_double(const double *a, ptrdiff_t n, double *out)
    void scale_row_float(float u, ptrdiff_t n, float *out)
    void scale_row_double(double u, ptrdiff_t n, double *out)
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
