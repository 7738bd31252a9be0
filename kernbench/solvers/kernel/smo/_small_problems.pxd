# Small problems in memory, solved one after the other without a driver.

from kernbench.kernels._rows cimport KernelRows
from kernbench.solvers.kernel.smo._working_set cimport WorkingSet


cdef class SmallProblems:
    cdef readonly Py_ssize_t n_done
    cdef readonly object dual_coef, intercept, objective, gap, dual, start, seconds, n_iter, n_terms, at_zero, sensitivity
    cdef readonly KernelRows kernel
    cdef readonly double largest        # k(x, x)
    cdef double tol, goal               # violations, in units of `unit`
    cdef double unit, zone
    cdef const double[::1] diagonal
    cdef const Py_ssize_t[::1] all
    cdef bint with_bias
    cdef WorkingSet inner
    # of the current problem
    cdef double[::1] linear             # p
    cdef double alpha, total            # of the norm; sum of the coefficients

    # `largest`: the most rows of a problem; `goal`: the violation to which small ones are continued; `whole`: whether
    # each has all rows, of which the cache has room for all; `constraint`: of the coefficients, see `dual_state`.
    cdef int _begin(self, KernelRows rows, Py_ssize_t n_problems, Py_ssize_t largest, double tol, double goal,
                    bint with_bias, bint whole, double zone, str constraint=*) except -1
    cdef int _load(self, Py_ssize_t k) except -1
    cdef int _keep(self, Py_ssize_t k) except -1
    cdef Py_ssize_t _solve(self, Py_ssize_t size, double goal, Py_ssize_t limit) except -2 nogil
    cdef Py_ssize_t _bound(self, double *sensitivity) noexcept
    cdef int _compute_gradient(self) except -1
    cdef int _measure(self, double *intercept, double *objective, double *dual) except -1
