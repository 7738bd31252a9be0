# The line search on a sample of the scores, for compiled solvers.

from kernbench.solvers.bundle._risk cimport Risk


cdef class SampledLine:
    cdef Risk problem
    cdef Py_ssize_t[::1] sample
    cdef double[::1] here, along, trial, gradient
    cdef double offset, curvature
    cdef readonly long long n_evaluations
    # A step along scores + t * moved; see the module.
    cdef double search(self, const double *scores, const double *moved, double slope, double curvature) except? -1 nogil
    cdef double derivative(self, double t) except? -1 nogil
