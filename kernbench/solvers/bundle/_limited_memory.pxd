# Limited-memory BFGS, for compiled solvers.

from kernbench.solvers.bundle._preconditioner cimport Preconditioner
from kernbench.solvers.design._design cimport Design


cdef class LimitedMemory:
    cdef readonly Py_ssize_t n_pairs, capacity
    cdef Design design
    cdef Py_ssize_t oldest                         # the pairs are at oldest, oldest + 1, … modulo the capacity
    cdef double[:, ::1] steps, changes
    cdef double[:, ::1] step_scores, change_scores # of a kernel only
    cdef double[::1] curvatures, shares            # <change, step>; working memory
    cdef void forget(self) noexcept nogil
    # Keep the pair unless its curvature is not positive; the scores are needed for a kernel only.
    cdef void append(self, double t, const double *step, const double *step_scores, const double *change,
                     const double *change_scores) noexcept nogil
    # v <- about the inverse Hessian times v
    cdef void solve(self, double *v, Preconditioner preconditioner) noexcept nogil
