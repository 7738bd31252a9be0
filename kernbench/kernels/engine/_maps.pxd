# From inner products and coordinatewise sums to kernel values: the loops of _maps.h, as Cython sees them.

from kernbench.kernels.engine._routines cimport kb_routine

cdef extern from "_maps.h" nogil:
    void map_row_float(kb_routine routine, const double *constants, ptrdiff_t n_constants, const float *t, float a,
                       const float *b, ptrdiff_t n, float *out)
    void map_row_double(kb_routine routine, const double *constants, ptrdiff_t n_constants, const double *t, double a,
                        const double *b, ptrdiff_t n, double *out)
    void finish_row_float(kb_routine routine, const double *constants, ptrdiff_t n, float *out)
    void finish_row_double(kb_routine routine, const double *constants, ptrdiff_t n, double *out)
    bint is_near_float(kb_routine routine, float t, float a, float b)
    bint is_near_double(kb_routine routine, double t, double a, double b)
    ptrdiff_t near_row_float(kb_routine routine, const float *t, float a, const float *b, ptrdiff_t n)
    ptrdiff_t near_row_double(kb_routine routine, const double *t, double a, const double *b, ptrdiff_t n)
