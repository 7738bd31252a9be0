# Rows of a training kernel matrix, in batches, with a bounded cache.

from kernbench.kernels._cached_rows cimport CachedRows


cdef class KernelRows(CachedRows):
    pass
