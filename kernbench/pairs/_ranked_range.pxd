from kernbench.pairs._order cimport Record
from kernbench.pairs._window cimport RankedLoss


cdef class RankedRange(RankedLoss):
    cdef readonly object loss
    cdef int code                        # of the loss (losses.margin and losses.regression)
    cdef object arrays
    cdef const double *y
    cdef const double *weights           # NULL where all are 1
    cdef double total                    # their sum
    cdef double *keys                    # in the order of the losses
    cdef double *losses
    cdef double *slopes
    cdef double *shares[2]               # among the highest losses: of mass `low`; of mass `high`
    cdef Record *records
    cdef Record *scratch

    cdef bint _measure(self, const double *scores) noexcept nogil
    cdef void _share(self, int which) noexcept nogil
    cdef double _value(self, const double *shares, double *gradient) noexcept nogil
    cdef double _difference(self, double *gradient) noexcept nogil
