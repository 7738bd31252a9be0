# The best intercept of slowly changing responses.

cdef class InterceptFinder:
    cdef const double[::1] y, weights
    cdef double[:, ::1] bracket          # scratch: breakpoints inside the bracket, with their masses
    cdef double positive, rounding       # weight of the positives; sums that differ by less are equal
    cdef double centre, radius

    cpdef double find(self, const double[::1] responses)
    cdef double _find_within(self, const double[::1] responses, double low, double high) except? -1.0
