# A difference of two convex functions of scores, for compiled solvers.

cdef class RankedLoss:
    cdef readonly Py_ssize_t n_samples
    cdef readonly double low, high       # the masses between which the range lies
    cdef object twin, last
    # The normalised upper part, whose subgradient is written unless `gradient` is NULL; NaN where the scores are not
    # finite, or too far apart to compute with.
    cdef double upper(self, const double *scores, double *gradient) noexcept nogil
    # The lower part; 0 where the range begins at 0.
    cdef double lower(self, const double *scores, double *gradient) noexcept nogil
    # upper - lower by one sort; the pointers to the results may be NULL.
    cdef double window(self, const double *scores, double *upper_value, double *lower_value, double *g_upper,
                       double *g_lower) noexcept nogil
    cdef _product(self, const double *v, double *product)
    cdef double _call(self, name, const double *scores, double *gradient)
    # The generalised Hessian of the upper part of a smooth loss times v, at the scores of the last call.
    cdef void upper_hessian_product(self, const double *v, double *product) noexcept nogil


cdef class WindowPairs(RankedLoss):
    pass


cdef class RankedRange(RankedLoss):
    pass


cdef class StructuralBound(RankedLoss):
    pass
