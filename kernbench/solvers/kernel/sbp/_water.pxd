# The water level of the stochastic batch perceptron, in one pass over the heights.

cdef enum:
    LANDMARKS = 5


cdef extern from "_heights.h" nogil:
    double KB_NO_LIMIT

    ctypedef struct kb_bracket:
        double low, high, mass_below
        Py_ssize_t n_below, n_inside
        double *heights
        double *masses
        Py_ssize_t *owners

    double scan_heights(const double *heights, const double *sides, const double *masses, Py_ssize_t n,
                        kb_bracket *first, kb_bracket *second)


cdef class Basin:
    cdef readonly Py_ssize_t size            # examples of positive weight
    cdef double total                        # their weight
    cdef Py_ssize_t[::1] members
    cdef double[::1] weights, cumulative     # of the members
    cdef bint uniform
    cdef double[::1] wide_heights, wide_masses   # the bracket, as found
    cdef Py_ssize_t[::1] wide_owners
    cdef double[::1] heights, masses         # of an interval in the bracket, ascending
    cdef Py_ssize_t[::1] owners              # the examples of these heights
    cdef kb_bracket bracket                  # the same, for the pass over the heights
    cdef double middle, half_width           # the interval is [middle - half_width, middle + half_width]
    cdef double wide_mass, wide_sum          # below the bracket; the sum of two basins is that of the first
    cdef Py_ssize_t wide_count, wide_above   # members in the bracket, and above it
    cdef Py_ssize_t landmarks[LANDMARKS]     # the examples around the edge of the previous level
    cdef Py_ssize_t n_landmarks
    cdef double centre, reach                # the bracket is [centre - reach, centre + reach]
    cdef double move                         # largest distance of the edge from the centre in the last steps
    cdef readonly long long scans            # passes so far
    cdef double below_mass, below_sum
    cdef Py_ssize_t count, above             # members in the interval, and above it
    cdef double edge, share                  # greatest covered height; covered share of the mass at it

    cdef void set_bracket(self, const double *c, bint everywhere) noexcept nogil
    cdef double predicted_edge(self, const double *c) noexcept nogil
    cdef void select_near(self, double sum_below, double target) noexcept nogil
    cdef void choose_interval(self, double target) noexcept nogil
    cdef void sort_interval(self) noexcept nogil
    cdef bint sort_wider(self) noexcept nogil
    cdef void set_level(self, double mass) noexcept nogil
    cdef void widen(self) noexcept nogil
    # Position of the member that the uniform number u proposes, in proportion to the weights.
    cdef Py_ssize_t propose(self, double u) noexcept nogil
    # The exact draw from p*, by a walk over the members.
    cdef Py_ssize_t walk(self, const double *c, double mass, double rank, double tie) noexcept nogil


cdef class Water:
    cdef readonly Basin first, second
    cdef bint two, uniform                   # uniform: all masses are 1
    cdef double[::1] sides, masses           # +1 and -1 for the members of the basins, NaN for examples of none
    cdef readonly double gamma, mass

    cdef bint level(self, const double *c, double volume) noexcept nogil
    cdef void _scan(self, const double *c) noexcept nogil
