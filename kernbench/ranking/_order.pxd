# The order of scores, kept between calls.

from libc.stdint cimport uint32_t

cdef extern from "_order.h" nogil:
    enum:
        CLASS_BIT "KB_CLASS_BIT"
        INDEX_BITS "KB_INDEX_BITS"
    void kb_merge_sort(double *z, uint32_t *tag, Py_ssize_t n, double *z_scratch, uint32_t *tag_scratch)


cdef class ScoreOrder:
    cdef readonly Py_ssize_t n_samples
    cdef readonly object arrays          # keeps the memory behind the pointers alive
    cdef const unsigned char *positive   # 1 or 0, in the order of the samples
    # After `sort`: the shifted scores z_k, ascending, and whose they are: the index of a sample in the low 31 bits,
    # its class in the highest (1 positive). Where values are equal negatives come first.
    cdef double *z
    cdef uint32_t *tag
    cdef double *z_scratch
    cdef uint32_t *tag_scratch
    cdef double largest                  # the largest |z_k|

    # Sort scores[i] - margin * positive[i]. Returns False, and sorts nothing, if a score is not finite.
    cdef bint sort(self, const double *scores, double margin) noexcept nogil
