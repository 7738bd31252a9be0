# An approximate Hessian, factorised, for compiled solvers.

from kernbench.solvers.design._design cimport Design


cdef class Preconditioner:
    cdef readonly Py_ssize_t n_coef
    cdef Py_ssize_t n_free               # the last coefficients, those without a penalty: 0 unless set
    cdef Design design
    cdef double alpha
    cdef const unsigned char[::1] mask
    cdef Py_ssize_t[::1] rows
    cdef readonly bint fitted
    cdef bint paired                     # whether `mask` holds the classes of pairs
    cdef double[:, ::1] hessian          # M - alpha I
    cdef double[:, ::1] factor           # the Cholesky factor, in the lower triangle as LAPACK sees it
    cdef int fit(self, const double *h) except -1 nogil
    cdef int _factorise(self) except -1 nogil
    cdef void solve(self, double *v) noexcept nogil                          # v <- M^-1 v
    cdef void half_solve(self, double *V, Py_ssize_t count) noexcept nogil   # rows v of V <- L^-1 v, M = L L'


cpdef Preconditioner preconditioner_for(Design design, const unsigned char[::1] mask, double alpha, object rng)
cdef Preconditioner preconditioner_of(Design design, const unsigned char[::1] mask, double alpha, rows)
