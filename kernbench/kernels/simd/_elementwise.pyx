"""The array functions of _vector_math.h over flat float32 and float64 arrays, distributed over the threads."""

from cython.parallel cimport prange

from kernbench.kernels.simd._vector_math cimport (
    DoubleMap, FloatMap,
    kb_acos_array_double, kb_acos_array_float, kb_cos_array_double, kb_cos_array_float,
    kb_exp_array_double, kb_exp_array_float, kb_exp_nonpositive_array_double, kb_exp_nonpositive_array_float,
    kb_log_array_double, kb_log_array_float, kb_sin_array_double, kb_sin_array_float,
    kb_sincos_array_double, kb_sincos_array_float,
)

cdef enum:
    CHUNK = 16384  # elements per task
    SHARED = 4 * CHUNK  # below this, a second thread costs more than it saves


cdef class Map:
    """A function of one number, applied to every element: ``f(x, out)``, both flat and of one precision."""

    cdef FloatMap single
    cdef DoubleMap double

    def __call__(self, x, out):
        if x.dtype == "float32":
            self.fill_single(x, out)
        else:
            self.fill_double(x, out)

    cdef fill_single(self, const float[::1] x, float[::1] out):
        cdef Py_ssize_t n = x.shape[0], start
        for start in prange(0, n, CHUNK, nogil=True, schedule="static", use_threads_if=n >= SHARED):
            self.single(&x[start], min(CHUNK, n - start), &out[start])

    cdef fill_double(self, const double[::1] x, double[::1] out):
        cdef Py_ssize_t n = x.shape[0], start
        for start in prange(0, n, CHUNK, nogil=True, schedule="static", use_threads_if=n >= SHARED):
            self.double(&x[start], min(CHUNK, n - start), &out[start])


cdef Map as_map(FloatMap single, DoubleMap double):
    cdef Map f = Map.__new__(Map)
    f.single, f.double = single, double
    return f


exp = as_map(kb_exp_array_float, kb_exp_array_double)
exp_nonpositive = as_map(kb_exp_nonpositive_array_float, kb_exp_nonpositive_array_double)
log = as_map(kb_log_array_float, kb_log_array_double)
cos = as_map(kb_cos_array_float, kb_cos_array_double)
sin = as_map(kb_sin_array_float, kb_sin_array_double)
acos = as_map(kb_acos_array_float, kb_acos_array_double)

ctypedef fused real:
    float
    double


def sincos(const real[::1] x, real[::1] sine, real[::1] cosine):
    """Fill both at once."""
    cdef Py_ssize_t n = x.shape[0], start
    for start in prange(0, n, CHUNK, nogil=True, schedule="static", use_threads_if=n >= SHARED):
        if real is float:
            kb_sincos_array_float(&x[start], min(CHUNK, n - start), &sine[start], &cosine[start])
        else:
            kb_sincos_array_double(&x[start], min(CHUNK, n - start), &sine[start], &cosine[start])
