"""Dense rows of kernels of the distance, prepared in one pass over memory."""

from cython.parallel cimport prange

cdef extern from "_prepare.h" nogil:
    double prepare_float_float(const float *x, const double *centre, double unit, ptrdiff_t d, float *out)
    double prepare_float_double(const float *x, const double *centre, double unit, ptrdiff_t d, double *out)
    double prepare_double_float(const double *x, const double *centre, double unit, ptrdiff_t d, float *out)
    double prepare_double_double(const double *x, const double *centre, double unit, ptrdiff_t d, double *out)

ctypedef fused given:
    float
    double

ctypedef fused real:
    float
    double

cdef enum:
    SERIAL_VALUES = 500000      # below this, threads cost more than they save


def scale_rows(const given[:, ::1] X, const double[::1] centre, double unit, double norm_factor,
               real[:, ::1] rows, real[::1] terms):
    """Write (x_i - centre) / unit, computed in float64, and its squared norm times `norm_factor`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    centre : ndarray of shape (d,)
    unit, norm_factor : float
    rows : ndarray of shape (n, d)
    terms : ndarray of shape (n,)
        Norms of the rounded rows, summed in float64.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], i
    if rows.shape[0] != n or rows.shape[1] != d or terms.shape[0] != n or centre.shape[0] != d:
        raise ValueError("X, centre, rows and terms do not have the same numbers of rows and features")
    if n == 0 or d == 0:
        return
    for i in prange(n, nogil=True, schedule="static", use_threads_if=n * d >= SERIAL_VALUES):
        if given is float and real is float:
            terms[i] = <float> (norm_factor * prepare_float_float(&X[i, 0], &centre[0], unit, d, &rows[i, 0]))
        elif given is float:
            terms[i] = norm_factor * prepare_float_double(&X[i, 0], &centre[0], unit, d, &rows[i, 0])
        elif real is float:
            terms[i] = <float> (norm_factor * prepare_double_float(&X[i, 0], &centre[0], unit, d, &rows[i, 0]))
        else:
            terms[i] = norm_factor * prepare_double_double(&X[i, 0], &centre[0], unit, d, &rows[i, 0])
