# The order of scores, kept between calls.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "_order.h" nogil:
    enum:
        CLASS_SHIFT "KB_CLASS_SHIFT"
    const uint64_t INDEX_BITS "KB_INDEX_BITS"
    ctypedef struct Record "kb_record":
        double z
        uint64_t tag        # index of a sample; its class in the highest bit, 1 positive
    ctypedef struct Grid "kb_grid":
        pass


cdef class ScoreOrder:
    cdef readonly Py_ssize_t n_samples
    cdef readonly object arrays          # keeps the memory behind the pointers alive
    cdef const uint8_t *positive         # 1 or 0, in the order of the samples
    # After `sort`: the values z_k = score - margin * positive, ascending, and whose they are. Where values are equal,
    # negatives come before positives. One record more repeats the last value, so that z_{k+1} can be read.
    cdef Record *records
    cdef double low, high                # the smallest and the largest z_k
    cdef Record *scratch
    cdef Py_ssize_t n_pieces, n_cells
    cdef uint32_t *counters              # one for each piece of the samples and each cell
    cdef double *lows                    # of the pieces
    cdef double *highs
    cdef double margin                   # of the records, NaN before the first call

    # Sort the scores; returns False, and sorts nothing, if one is not finite.
    cdef bint sort(self, const double *scores, double margin) noexcept nogil
    cdef bint _measure(self, const double *scores, double margin) noexcept nogil
    cdef double _value(self, const double *scores, Py_ssize_t k) noexcept nogil
    cdef bint _repair(self, const double *scores) noexcept nogil
    cdef void _distribute(self, const double *scores) noexcept nogil
