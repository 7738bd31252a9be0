# One row of a design of features at a time, for solvers that step from row to row.

from kernbench.solvers.design._design cimport FeatureDesign


cdef inline double row_dot(FeatureDesign design, Py_ssize_t i, const double *w) noexcept nogil:
    """<x_i, w>."""
    cdef double score
    design._score(i, i + 1, w, &score - i)  # which writes entry i
    return score


cdef inline void row_add(FeatureDesign design, Py_ssize_t i, double size, double *w) noexcept nogil:
    """w += size x_i."""
    design._gather_up(i, i + 1, &size - i, w)
