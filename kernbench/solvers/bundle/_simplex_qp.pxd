# The small quadratic programme of a bundle of cuts, for compiled solvers.

cdef class SimplexQP:
    cdef readonly Py_ssize_t capacity
    cdef double[::1] hessian, target, ascent
    cdef Py_ssize_t[::1] active
    # Maximise b'u - u'Qu/2 over u >= 0, sum u = 1; Q is k x k with rows `stride` apart. u: a point of the simplex to
    # start from, or zeros; overwritten with the maximiser.
    cdef void solve(self, const double *Q, Py_ssize_t stride, const double *b, Py_ssize_t k, double *u) noexcept nogil
    cdef bint _affine_maximiser(self, const double *Q, Py_ssize_t stride, const double *b,
                                Py_ssize_t n_active) noexcept nogil
