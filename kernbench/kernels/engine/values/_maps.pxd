# From inner products and coordinatewise sums to kernel values: the loops of _maps.h, as Cython sees them.

from libc.stdint cimport int32_t

from kernbench.kernels.engine._routines cimport kb_routine

cdef extern from "_maps.h" nogil:
    void map_row_float(kb_routine routine, const double *constants, ptrdiff_t n_constants, float *t, float a,
                       const float *b, ptrdiff_t n, float *out)
    void map_row_double(kb_routine routine, const double *constants, ptrdiff_t n_constants, double *t, double a,
                        const double *b, ptrdiff_t n, double *out)
    void finish_row_float(kb_routine routine, const double *constants, ptrdiff_t n, float *out)
    void finish_row_double(kb_routine routine, const double *constants, ptrdiff_t n, double *out)
    bint is_near_float(kb_routine routine, float t, float a, float b, float floor)
    bint is_near_double(kb_routine routine, double t, double a, double b, double floor)
    ptrdiff_t near_row_float(kb_routine routine, const float *t, float a, const float *b, float floor, ptrdiff_t n)
    ptrdiff_t near_row_double(kb_routine routine, const double *t, double a, const double *b, double floor, ptrdiff_t n)

    enum: KB_MATERN_BITS
    enum: KB_MATERN_TERMS_float
    enum: KB_MATERN_TERMS_double
    double KB_MATERN_LARGEST
    void matern_row_float(int twice_nu, ptrdiff_t n, float *out)
    void matern_row_double(int twice_nu, ptrdiff_t n, double *out)
    void matern_table_row_float(const float *pieces, int32_t first, int32_t n_pieces, ptrdiff_t n, float *out)
    void matern_table_row_double(const double *pieces, int32_t first, int32_t n_pieces, ptrdiff_t n, double *out)
