"""Kernel values that need more than an inner product: Bessel functions, and rows that nearly coincide.

Inner products give |x - z|^2 = |x|^2 + |z|^2 - 2 <x, z> with an error of some roundings of |x|^2 + |z|^2. Kernels that
are smooth functions of the squared distance do not mind; Matérn kernels with nu <= 1 and the arc-cosine kernel of
order 0 behave like its root where two rows meet, and would lose half their digits there (1 - 3e-4 for k(x, x) in
float32). The few such pairs are computed again from the differences of the rows.
"""

from libc.math cimport asin, exp, isinf, lgamma, log, sqrt
from libc.stdint cimport int32_t, int64_t
from scipy.special.cython_special cimport kve

from kernbench.kernels.engine._routines cimport KB_ARC_COSINE, KB_GAUSSIAN, KB_MATERN, KB_POLYNOMIAL, kb_routine
from kernbench.kernels.engine._maps cimport is_near_double, is_near_float, near_row_double, near_row_float

cdef double LN_2 = 0.6931471805599453
cdef double PI = 3.141592653589793

cdef enum:
    KB_WIDEST = 5000        # a Matern kernel of any allowed order underflows before


cdef double gemm_scale(kb_routine routine, const double *constants) noexcept:
    """What inner products are multiplied by on their way into a map."""
    if routine == KB_GAUSSIAN:
        return 2.0 * constants[0]
    if routine == KB_MATERN:
        return 2.0
    return constants[0] if routine == KB_POLYNOMIAL else 1.0


cdef bint has_bessel(kb_routine routine, const double *constants) noexcept:
    """Whether `map_row` leaves squared distances for `map_bessel`."""
    return routine == KB_MATERN and constants[0] not in (0.5, 1.5, 2.5)


cdef bint needs_mending(kb_routine routine, const double *constants) noexcept:
    """Whether the kernel is singular where two rows meet."""
    return (routine == KB_MATERN and constants[0] <= 1.0) or (routine == KB_ARC_COSINE and constants[0] == 0.0)


cdef inline double _log_front(double nu) noexcept nogil:
    """log of 2^(1 - nu) / Gamma(nu)."""
    return (1.0 - nu) * LN_2 - lgamma(nu)


cdef double _matern(double nu, double log_front, double r) noexcept nogil:
    """2^(1 - nu) / Gamma(nu) r^nu K_nu(r), and 1 at 0."""
    cdef double scaled, term, total, k
    if not r > 0.0:
        return 1.0 if r == 0.0 else r  # NaN stays NaN
    if nu == 0.5:
        return exp(-r)
    if r > KB_WIDEST:
        return 0.0
    scaled = kve(nu, r)  # K_nu(r) exp(r)
    if not isinf(scaled):
        return exp(log_front + nu * log(r) - r) * scaled
    # Too near 0 for K_nu: the power series of r^nu K_nu, whose second half, of order r^(2 nu), is far below rounding.
    total = term = k = 1.0
    while k < nu and (term > 1e-18 or term < -1e-18):
        term *= 0.25 * r * r / (k * (k - nu))
        total += term
        k += 1.0
    return total


cdef void map_bessel(double nu, Py_ssize_t n, real *out) noexcept nogil:
    cdef Py_ssize_t j
    cdef double log_front = _log_front(nu)
    for j in range(n):
        out[j] = <real> _matern(nu, log_front, sqrt(<double> out[j]))


cdef inline double _value(kb_routine routine, double nu, double squared, bint opposite) noexcept nogil:
    """The kernel, from the squared distance of x and z, or of x and -z if they point in opposite directions."""
    cdef double angle
    if routine == KB_MATERN:
        return _matern(nu, _log_front(nu), sqrt(squared))
    angle = 2.0 * asin(min(1.0, 0.5 * sqrt(squared))) / PI
    return angle if opposite else 1.0 - angle


cdef inline bint _is_near(kb_routine routine, real t, real a, real b) noexcept nogil:
    if real is float:
        return is_near_float(routine, t, a, b)
    else:
        return is_near_double(routine, t, a, b)


cdef inline bint _any_near(kb_routine routine, const real *t, real a, const real *b, Py_ssize_t n) noexcept nogil:
    if real is float:
        return near_row_float(routine, t, a, b, n) > 0
    else:
        return near_row_double(routine, t, a, b, n) > 0


cdef void mend_dense_row(kb_routine routine, double nu, const real *x, const real *z, Py_ssize_t d, const real *t, real a,
                         const real *b, Py_ssize_t n, real *out) noexcept nogil:
    cdef Py_ssize_t j, k
    cdef double squared, difference, sign
    cdef bint opposite
    if not _any_near[real](routine, t, a, b, n):
        return
    for j in range(n):
        if not _is_near[real](routine, t[j], a, b[j]):
            continue
        opposite = routine == KB_ARC_COSINE and t[j] < 0
        sign = -1.0 if opposite else 1.0
        squared = 0.0
        for k in range(d):
            difference = <double> x[k] - sign * <double> z[j * d + k]
            squared += difference * difference
        out[j] = <real> _value(routine, nu, squared, opposite)


cdef void mend_sparse_row(kb_routine routine, double nu, const real *x_values, const int32_t *x_columns,
                          const int64_t *x_starts, const Py_ssize_t *queries, Py_ssize_t m, const real *z_values,
                          const int32_t *z_columns, Py_ssize_t n_stored, const real *t, real a, const real *b,
                          real *out) noexcept nogil:
    cdef Py_ssize_t q
    cdef int64_t start, stop
    cdef bint opposite
    cdef double squared
    if not _any_near[real](routine, t, a, b, m):
        return
    for q in range(m):
        if not _is_near[real](routine, t[q], a, b[q]):
            continue
        opposite = routine == KB_ARC_COSINE and t[q] < 0
        start, stop = x_starts[queries[q]], x_starts[queries[q] + 1]
        squared = _squared_distance[real](x_values + start, x_columns + start, stop - start, z_values, z_columns,
                                          n_stored, -1.0 if opposite else 1.0)
        out[q] = <real> _value(routine, nu, squared, opposite)


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
