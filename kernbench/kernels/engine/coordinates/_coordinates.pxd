# Sums and products over pairs of entries: the loops of _coordinates.h, as Cython sees them.

from libc.stdint cimport int32_t, int64_t

from kernbench.kernels.engine._routines cimport kb_routine

cdef extern from "_coordinates.h" nogil:
    enum: KB_STRIP
    enum: KB_PASS_BYTES

    void coordinates_strip_float(kb_routine routine, const float *x, ptrdiff_t row_length, ptrdiff_t m, const float *strip,
                           ptrdiff_t n_features, int first, ptrdiff_t width, float **rows, ptrdiff_t offset)
    void coordinates_strip_double(kb_routine routine, const double *x, ptrdiff_t row_length, ptrdiff_t m, const double *strip,
                            ptrdiff_t n_features, int first, ptrdiff_t width, double **rows, ptrdiff_t offset)
    void coordinates_sweep_float(kb_routine routine, const float *values, const int32_t *columns, const int64_t *starts,
                           ptrdiff_t n_rows, const float *panel, const float *base, float *out)
    void coordinates_sweep_double(kb_routine routine, const double *values, const int32_t *columns, const int64_t *starts,
                            ptrdiff_t n_rows, const double *panel, const double *base, double *out)
