# The bundle method, for the solvers that give it a risk.

from kernbench.solvers.bundle._cuts cimport Cuts
from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._line_search cimport SampledLine
from kernbench.solvers.bundle._preconditioner cimport Preconditioner
from kernbench.solvers.bundle._risk cimport Risk
from kernbench.solvers.bundle._smoothed_newton cimport SmoothedNewton


cdef class CuttingPlanes:
    cdef readonly long long n_iter
    cdef readonly bint converged
    cdef public double tol
    cdef readonly Risk problem
    cdef readonly Py_ssize_t max_cuts
    cdef Design design
    cdef Cuts cuts
    cdef SampledLine line
    cdef Preconditioner preconditioner
    cdef SmoothedNewton smoothed         # None with a preconditioner, with a kernel, and once mu is too small
    cdef bint smoothing                  # whether steps are now taken on the smoothed risk
    cdef double last_share               # gap / objective, PACE cuts ago
    cdef object sample
    cdef object columns                  # columns that have entries, if the design holds only these; else None
    cdef Py_ssize_t n_features           # coefficients of a solution
    cdef long long seed
    cdef double alpha
    # the programme of the Newton step: the cuts times L^-T (M = L L'), their values at the best point, their shares
    cdef double[:, ::1] Z
    cdef double[::1] heights, shares
    # the best point and its scores; the point to come with the slopes there, and the way to it
    cdef double[::1] coef, scores, next_coef, next_scores, g, step, moved
    cdef double value, best_risk, bound, dual, last_gap
    cdef bint warm, was_newton
    cdef Py_ssize_t n_steps, stuck

    cdef int _evaluate(self) except -1 nogil
    # Go on after <g, s> + offset has been added to the risk, for scores s; it is `risk` now at the best point.
    cdef int add_linear(self, const double *g, double offset, double risk) except -1 nogil
    cdef int _raise_bound(self) except -1 nogil
    cdef bint _is_within(self, double tol) noexcept nogil
    cdef int _next_point(self) except -1 nogil
    cdef int _newton_step(self) except -1 nogil
