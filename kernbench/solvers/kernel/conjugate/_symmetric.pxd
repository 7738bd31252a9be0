# Products with a symmetric matrix, from its rows' halves.

cdef extern from "_symmetric.h" nogil:
    # out[0 : n] += the contribution of `count` rows from `first` on to K a; all rows, in any batches, give the product.
    void add_symmetric_float(float **rows, ptrdiff_t first, ptrdiff_t count, ptrdiff_t n, const double *a, double *out)
    void add_symmetric_double(double **rows, ptrdiff_t first, ptrdiff_t count, ptrdiff_t n, const double *a, double *out)
