# The regularised hinge loss along a direction, and the line searches.

from kernbench.solvers.kernel.online._intercept cimport InterceptFinder


cdef extern from "_hinge_line.h" nogil:
    double dot "kb_dot"(const double *a, const double *c, ptrdiff_t n)
    void mix "kb_mix"(double p, double *a, double q, const double *c, ptrdiff_t n)


cdef class HingeLine:
    cdef readonly double intercept, value, slope     # at the last t evaluated
    cdef const double[::1] y, weights
    cdef double[::1] trial                           # responses there
    cdef Py_ssize_t[::1] open                        # examples whose side of the kink is undecided in a search
    cdef double[:, ::1] ties                         # room for the examples at the kink
    cdef Py_ssize_t n
    cdef double alpha, share
    cdef bint fit_intercept
    cdef InterceptFinder finder
    cdef const double *u
    cdef const double *v
    cdef double q0, q1, q2
    cdef object kept                                 # the arrays behind u and v, if they came from Python

    # Set the responses of f and of the direction, and their inner products in the kernel's space, for all below.
    cdef void set_line(self, const double *u, const double *v, double q0, double q1, double q2) noexcept
    # Set intercept, value and slope for t.
    cpdef int evaluate(self, double t) except -1
    # Minus the slopes of the losses at t = 0, as active_part of the reference; sets the intercept.
    cdef int active_part(self, double *active) except -1
    # The searches of the reference; high < 0: no limit; wolfe returns 0 if no step is found.
    cpdef double exact(self, double high) except? -1.0
    cdef double _halve_apart(self, double high) noexcept
    cpdef double bracket(self, double length, double radius, double n, double c1, double c2) except? -1.0
    cpdef double wolfe(self, double length, double c1, double c2) except? -1.0
    cdef double _split_ties(self, double excess, double kink, double *active) noexcept
