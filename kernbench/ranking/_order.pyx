"""The order of scores: sorted once per call, in memory that is allocated once."""

from libc.math cimport fabs, isfinite

import numpy as np

LARGEST_SIZE = 2**31 - 1


cdef class ScoreOrder:
    """Scores sorted ascending with their classes; the working memory lives as long as the object.

    Parameters
    ----------
    positive : ndarray of shape (n,), bool
        Which samples are positive.
    """

    def __init__(self, positive):
        if len(positive) > LARGEST_SIZE:
            raise ValueError(f"at most {LARGEST_SIZE} samples can be ranked, got {len(positive)}")
        n = self.n_samples = len(positive)
        mask = np.ascontiguousarray(positive, dtype=np.uint8)
        z, z_scratch = np.empty(n), np.empty(n)
        tag, tag_scratch = np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint32)
        self.arrays = (mask, z, z_scratch, tag, tag_scratch)
        self.positive = <const unsigned char *> <size_t> mask.ctypes.data
        self.z = <double *> <size_t> z.ctypes.data
        self.z_scratch = <double *> <size_t> z_scratch.ctypes.data
        self.tag = <uint32_t *> <size_t> tag.ctypes.data
        self.tag_scratch = <uint32_t *> <size_t> tag_scratch.ctypes.data

    cdef bint sort(self, const double *scores, double margin) noexcept nogil:
        cdef Py_ssize_t k
        self.largest = 0.0
        for k in range(self.n_samples):
            if not isfinite(scores[k]):
                return False
            self.z[k] = scores[k] - margin * self.positive[k]
            self.tag[k] = <uint32_t> k | (<uint32_t> self.positive[k] << 31)
            self.largest = max(self.largest, fabs(self.z[k]))
        kb_merge_sort(self.z, self.tag, self.n_samples, self.z_scratch, self.tag_scratch)
        return True
