# A small dense box-constrained problem, solved by two-coordinate (or one-coordinate) steps.

from kernbench.kernels._rows cimport KernelRows


cdef class WorkingSet:
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
    cdef double reach                        # SAME_BETA times the largest coefficient so far
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
    # shrinking of the whole problem
    cdef WorkingSet core                     # the coordinates that may still move, while the others are left out
    cdef Py_ssize_t[::1] places              # of a core: its coordinates in the whole problem, ascending
    cdef double[:, ::1] before               # beta and e of the whole problem when the core was formed; scratch
    cdef object moved_addresses
    cdef void **moved                        # rows of coordinates that moved in the core
    cdef Py_ssize_t until_shrink             # steps until coordinates are left out
    cdef double core_goal                    # violation at which all coordinates are looked at again
    cdef bint shrinks, in_core, is_core
    cdef bint trusted                        # whether no coordinate outside the last core violated the conditions more

    cdef int load(self, KernelRows rows, const Py_ssize_t[::1] members, state) except -1
    cdef int load_with(self, matrix, const Py_ssize_t[::1] members, state) except -1
    cdef int _take(self, const Py_ssize_t[::1] members, state) except -1
    cdef int _take_rows(self, KernelRows rows, const Py_ssize_t[::1] members) except -1
    cdef void begin(self) noexcept nogil
    cdef void _mark(self, Py_ssize_t k) noexcept nogil
    cdef void _mark_by_sign(self, Py_ssize_t k) noexcept nogil
    cdef void _mark_all_by_sign(self) noexcept nogil
    cdef Py_ssize_t _look(self, bint single, const void *row_i, const void *row_j, double step,
                          Py_ssize_t *other) noexcept nogil
    cdef double _step_of_pair(self, Py_ssize_t i, Py_ssize_t j, double slope, double curvature) noexcept nogil
    cdef Py_ssize_t solve(self, double goal, Py_ssize_t budget) except -1 nogil
    cdef Py_ssize_t _steps(self, double goal, Py_ssize_t budget) except -1 nogil
    cdef int _demand(self, Py_ssize_t k, bint grows) except -1 nogil
    cdef int _enter(self) except -1
    cdef bint _stays(self, Py_ssize_t k) noexcept nogil
    cdef int _hold(self, Py_ssize_t size) except -1
    cdef void _write_back(self) noexcept nogil
    cdef Py_ssize_t _n_negative(self, bint strictly) noexcept nogil
    cdef double _step_over_kinks(self, Py_ssize_t i, Py_ssize_t j, double slope, double curvature,
                                 double end) noexcept nogil
    cdef void _round_to_zero(self, Py_ssize_t k) noexcept nogil
    cdef void _pad(self) noexcept nogil
