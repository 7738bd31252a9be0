from kernbench.pairs._window cimport RankedLoss, WindowPairs

cdef extern from "_structural.h" nogil:
    ctypedef struct Piece "kb_piece":
        double b, mass
        Py_ssize_t sample


cdef class StructuralBound(RankedLoss):
    cdef WindowPairs ranks               # sorts, and finds the negatives of the upper ranks
    cdef object arrays
    cdef Piece *pieces                   # of the negatives, the highest first
    cdef double *counts
    cdef double *a                       # of the positives, the highest first: scores, thresholds, weights, masses
    cdef double *t
    cdef double *w
    cdef double *taken

    cdef Py_ssize_t _take(self, int part, Py_ssize_t size) noexcept nogil
