"""Distances of rows that nearly coincide, for which inner products are not accurate enough.

Inner products give |x - z|^2 = |x|^2 + |z|^2 - 2 <x, z> with an error of some units in the last place of |x|^2 + |z|^2.
Matérn kernels decrease by |x - z|^2 / (4 (nu - 1)) for nearby rows. With nu <= 1, and for the arc-cosine kernel of
order 0, the decrease is steeper, like a root of |x - z|^2, so that half of the digits would be lost (k(x, x) = 1 - 3e-4
in float32). The few such pairs are recomputed from the differences of the rows. The Gaussian kernel, the limit of large
nu, needs this only if rows are thousands of length scales from their centre: an error of |x|^2 + |z|^2 - 2 <x, z>, in
units of sigma^2, changes the value by half as much. See `kernels.engine.engines`.
"""

from libc.math cimport asin, sqrt
from libc.stdint cimport int32_t, int64_t

from kernbench.kernels.engine.values._maps cimport is_near_double, is_near_float, near_row_double, near_row_float
from kernbench.kernels.engine._routines cimport (
    KB_ARC_COSINE, KB_GAUSSIAN, KB_MATERN, KB_POLYNOMIAL, KB_SIGMOID, kb_routine,
)

cdef double PI = 3.141592653589793
cdef double HARMLESS = 8.0      # acceptable error of a kernel value, in units in the last place


cdef double gemm_scale(kb_routine routine, const double *constants) noexcept:
    """Return the factor by which inner products are multiplied before a map."""
    if routine == KB_GAUSSIAN:
        return 2.0 * constants[0]
    if routine == KB_MATERN:
        return 2.0
    return constants[0] if routine in (KB_POLYNOMIAL, KB_SIGMOID) else 1.0


cdef bint needs_mending(kb_routine routine, const double *constants) noexcept:
    """Return whether the kernel is steep where two rows coincide."""
    return routine == KB_MATERN or (routine == KB_ARC_COSINE and constants[0] == 0.0)


cdef double near_floor(kb_routine routine, const double *constants) noexcept:
    """Return the |x|^2 + |z|^2 up to which its rounding errors, divided by 4 (nu - 1), are negligible."""
    return HARMLESS * max(constants[0] - 1.0, 0.0) if routine == KB_MATERN else 0.0


cdef inline double _value(kb_routine routine, double squared, bint opposite) noexcept nogil:
    """Return the recomputed value from the squared distance of x and z, or of x and -z if they are opposite.

    Of Matern and Gaussian kernels that is the distance, to be mapped: like the terms, squared, and half of it.
    """
    cdef double angle
    if routine == KB_MATERN:
        return squared
    if routine == KB_GAUSSIAN:
        return 0.5 * squared
    angle = 2.0 * asin(min(1.0, 0.5 * sqrt(squared))) / PI
    return angle if opposite else 1.0 - angle


cdef inline bint _is_near(kb_routine routine, real t, real a, real b, real floor) noexcept nogil:
    if routine == KB_GAUSSIAN:  # the same share of a + b
        routine = KB_MATERN
    if real is float:
        return is_near_float(routine, t, a, b, floor)
    else:
        return is_near_double(routine, t, a, b, floor)


cdef inline bint _any_near(kb_routine routine, const real *t, real a, const real *b, real floor, Py_ssize_t n) noexcept nogil:
    if routine == KB_GAUSSIAN:
        routine = KB_MATERN
    if real is float:
        return near_row_float(routine, t, a, b, floor, n) > 0
    else:
        return near_row_double(routine, t, a, b, floor, n) > 0


cdef void mend_dense_row(kb_routine routine, double floor, const real *x, const real *z, Py_ssize_t d, const real *t,
                         real a, const real *b, Py_ssize_t n, real *out) noexcept nogil:
    cdef Py_ssize_t j, k
    cdef double squared, difference, sign
    cdef bint opposite
    if not _any_near[real](routine, t, a, b, <real> floor, n):
        return
    for j in range(n):
        if not _is_near[real](routine, t[j], a, b[j], <real> floor):
            continue
        opposite = routine == KB_ARC_COSINE and t[j] < 0
        sign = -1.0 if opposite else 1.0
        squared = 0.0
        for k in range(d):
            difference = <double> x[k] - sign * <double> z[j * d + k]
            squared += difference * difference
        out[j] = <real> _value(routine, squared, opposite)


cdef void mend_sparse_row(kb_routine routine, double floor, const real *x_values, const int32_t *x_columns,
                          const int64_t *x_starts, const Py_ssize_t *queries, Py_ssize_t m, const real *z_values,
                          const int32_t *z_columns, Py_ssize_t n_stored, const real *t, real a, const real *b,
                          real *out) noexcept nogil:
    cdef Py_ssize_t q
    cdef int64_t start, stop
    cdef bint opposite
    cdef double squared
    if not _any_near[real](routine, t, a, b, <real> floor, m):
        return
    for q in range(m):
        if not _is_near[real](routine, t[q], a, b[q], <real> floor):
            continue
        opposite = routine == KB_ARC_COSINE and t[q] < 0
        start, stop = x_starts[queries[q]], x_starts[queries[q] + 1]
        squared = _squared_distance[real](x_values + start, x_columns + start, stop - start, z_values, z_columns,
                                          n_stored, -1.0 if opposite else 1.0)
        out[q] = <real> _value(routine, squared, opposite)


cdef double _squared_distance(const real *x, const int32_t *x_columns, Py_ssize_t n_x, const real *z,
                              const int32_t *z_columns, Py_ssize_t n_z, double sign) noexcept nogil:
    """|x - sign z|^2 of two sparse rows with ascending columns."""
    cdef Py_ssize_t i = 0, j = 0
    cdef double squared = 0.0, difference
    while i < n_x or j < n_z:
        if j == n_z or (i < n_x and x_columns[i] < z_columns[j]):
            difference = x[i]
            i += 1
        elif i == n_x or z_columns[j] < x_columns[i]:
            difference = z[j]
            j += 1
        else:
            difference = <double> x[i] - sign * <double> z[j]
            i += 1
            j += 1
        squared += difference * difference
    return squared
