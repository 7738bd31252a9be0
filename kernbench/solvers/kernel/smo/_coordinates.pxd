# The coordinates of a working set.

from libc.math cimport INFINITY

from kernbench.kernels._rows cimport KernelRows


cdef double ROUNDING                         # share of the largest coefficient so far that counts as rounding


cdef class Coordinates:
    cdef readonly Py_ssize_t size            # coordinates in use
    cdef readonly double dual_gain           # increase of the dual objective by the steps so far
    cdef double most_gain                    # steps end once `dual_gain` exceeds this
    cdef readonly double violation           # of the optimality conditions inside the set, as of the last step
    cdef double top, bottom                  # extreme gradients of coordinates that can grow, and that can shrink
    cdef double zone                         # slope of the dual objective's kink at 0, on both sides
    cdef bint by_sign                        # pairs are compared by families, see `dual_state`
    cdef bint bounded                        # ... since the sum of magnitudes has a bound
    cdef bint loose                          # ... which is not active, so that there is one family
    cdef double room                         # by how much that sum may grow
    cdef double top2, bottom2                # as `top` and `bottom`, of negative coordinates
    cdef double reach                        # ROUNDING times the largest coefficient so far
    cdef Py_ssize_t padded
    cdef bint single, with_bias, whole
    cdef object arrays, matrix, row_addresses
    cdef object shared                       # a kernel between the members that other sets use, too
    cdef char *block                         # kernel values between the members, or of the last row only
    cdef void **kernel                       # one row of `padded` kernel values per coordinate; NULL: not yet computed
    cdef readonly double[::1] e, beta
    cdef double[::1] up, low, diagonal, lower, upper, ridge, least_change
    cdef double[::1] up2, low2               # as `up` and `low`, of the family of negative coordinates
    # rows on demand
    cdef KernelRows rows                     # where they come from
    cdef void **source                       # of the whole problem; NULL: not yet computed
    cdef Py_ssize_t n_held                   # rows computed so far
    cdef Py_ssize_t[::1] places              # of a core: its coordinates in the whole problem, ascending
    cdef bint is_core

    cdef int _take(self, const Py_ssize_t[::1] members, state) except -1
    cdef int _take_rows(self, KernelRows rows, const Py_ssize_t[::1] members) except -1
    cdef int _demand(self, Py_ssize_t k, bint grows) except -1 nogil
    cdef Py_ssize_t _n_negative(self, bint strictly) noexcept nogil
    cdef void _pad(self) noexcept nogil


cdef inline void mark(Coordinates work, Py_ssize_t k) noexcept nogil:
    """Set in which directions coordinate k can move: with a bias what its slopes differ from e by, infinite where it
    cannot move; bounds on the step without."""
    if work.with_bias:
        work.up[k] = (
            -INFINITY if work.beta[k] >= work.upper[k] else -work.zone if work.beta[k] >= 0.0 else work.zone
        )
        work.low[k] = (
            INFINITY if work.beta[k] <= work.lower[k] else -work.zone if work.beta[k] > 0.0 else work.zone
        )
    else:
        work.up[k] = work.upper[k] - work.beta[k]
        work.low[k] = work.lower[k] - work.beta[k]
