# The water level of the stochastic batch perceptron, in one pass over the heights.

cdef class Basin:
    cdef readonly Py_ssize_t size            # examples of positive weight
    cdef double total                        # their weight
    cdef Py_ssize_t[::1] members
    cdef double[::1] weights, cumulative     # of the members
    cdef bint uniform
    cdef double[::1] wide_heights, wide_masses   # the window, as found
    cdef Py_ssize_t[::1] wide_owners
    cdef double[::1] heights, masses         # its middle, ascending
    cdef Py_ssize_t[::1] owners              # whose heights these are
    cdef double focus, zoom                  # the middle is [focus - zoom, focus + zoom]
    cdef double wide_mass, wide_sum          # below the window
    cdef Py_ssize_t wide_count, wide_above   # members in the window, and above it
    cdef Py_ssize_t landmark                 # the example at the edge of the last level
    cdef double centre, reach                # the window is [centre - reach, centre + reach]
    cdef double move                         # how far the edge went in the last steps, at most
    cdef readonly long long scans            # passes so far
    cdef double below_mass, below_sum
    cdef Py_ssize_t count, above             # members in the middle, and above it
    cdef double edge, share                  # highest ground under water; share of the mass at it that is covered

    cdef void scan(self, const double *c, double target) noexcept nogil
    cdef void aim(self, double target) noexcept nogil
    cdef void refine(self) noexcept nogil
    cdef bint look_wider(self) noexcept nogil
    cdef void settle(self, double mass) noexcept nogil
    cdef void widen(self) noexcept nogil
    # Position of the member that the uniform number u proposes, in proportion to the weights.
    cdef Py_ssize_t propose(self, double u) noexcept nogil
    # The exact draw from p*, by a walk over the members.
    cdef Py_ssize_t walk(self, const double *c, double mass, double rank, double tie) noexcept nogil


cdef class Water:
    cdef readonly Basin first, second
    cdef bint two
    cdef readonly double gamma, mass

    cdef void level(self, const double *c, double volume) noexcept nogil
