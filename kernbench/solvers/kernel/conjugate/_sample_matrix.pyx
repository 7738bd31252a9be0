"""The kernel matrix of a sample that grows: new rows and columns arrive in one block.

Row j holds k(x_j, .) at the held-out (or otherwise watched) examples, if there are any, followed by those at the
sample. Memory for the largest sample is reserved at once, since untouched pages cost nothing.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from kernbench.kernels._rows cimport KernelRows
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float, dot_row_double, dot_row_float
from kernbench.solvers.kernel.conjugate._symmetric cimport add_symmetric_double, add_symmetric_float

import numpy as np

from kernbench.kernels.engine._products import multiply
from kernbench.kernels.engine.engines import make_engine


cdef class SampleMatrix:
    """Rows over [held-out examples | sample].

    Parameters
    ----------
    capacity : int
        Largest sample.
    n_held : int
        Held-out examples.
    dtype : {float32, float64}
    """

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t n_held, dtype):
        self.capacity, self.n_held, self.size = capacity, n_held, 0
        self.single = np.dtype(dtype) == np.float32
        self.item = 4 if self.single else 8
        self.stride = (n_held + capacity) * self.item
        self.storage = np.empty(capacity * self.stride, dtype=np.uint8)
        self.base = <char *> <size_t> self.storage.ctypes.data
        self.rows = <void **> malloc(capacity * sizeof(void *))
        self.steps = <double *> malloc(capacity * sizeof(double))
        if self.rows == NULL or self.steps == NULL:
            raise MemoryError("no memory for the kernel matrix of a sample")

    def __dealloc__(self):
        free(self.rows)
        free(self.steps)

    def append(self, block):
        """Append new examples: `block` has their kernel values at [held-out | sample | new], one row each."""
        cdef:
            Py_ssize_t k = block.shape[0], q, i, old = self.size, width = self.n_held + old + k
            const unsigned char[:, ::1] raw
            const float *f
            const double *d
        if old + k > self.capacity or block.shape[1] != width:
            raise ValueError(f"a block of shape {block.shape} does not fit a sample of {old} of {self.capacity}")
        if k == 0:
            return
        raw = np.ascontiguousarray(block, dtype=np.float32 if self.single else np.float64).view(np.uint8)
        for q in range(k):
            memcpy(self.base + (old + q) * self.stride, &raw[q, 0], width * self.item)
        for i in range(old):  # row by row, so that writes are contiguous
            if self.single:
                for q in range(k):
                    f = <const float *> &raw[q, 0]
                    (<float *> (self.base + i * self.stride))[self.n_held + old + q] = f[self.n_held + i]
            else:
                for q in range(k):
                    d = <const double *> &raw[q, 0]
                    (<double *> (self.base + i * self.stride))[self.n_held + old + q] = d[self.n_held + i]
        self.size = old + k

    def matvec(self, a):
        """Return K(sample, sample) @ a, float64."""
        cdef const double[::1] coef = np.ascontiguousarray(a, dtype=np.float64)
        cdef double[::1] out = np.zeros(self.size)
        if coef.shape[0] != self.size:
            raise ValueError(f"a must have one entry for each of the {self.size} examples, got {coef.shape[0]}")
        self._add_symmetric(&coef[0], &out[0])
        return np.asarray(out)

    cdef void combine(self, const double *coef, Py_ssize_t count, double *out) noexcept:
        cdef Py_ssize_t j, n_used = 0, width = self.n_held + self.size
        for j in range(count):
            if coef[j] != 0.0:
                self.rows[n_used] = self.base + j * self.stride
                self.steps[n_used] = coef[j]
                n_used += 1
        if self.single:
            add_rows_float(<float **> self.rows, self.steps, n_used, 0, width, out)
        else:
            add_rows_double(<double **> self.rows, self.steps, n_used, 0, width, out)

    cdef void combine_all(self, const double *coef, double *out) noexcept:
        cdef Py_ssize_t j
        for j in range(self.size):
            self.rows[j] = self.base + j * self.stride
        if self.single:
            add_rows_float(<float **> self.rows, coef, self.size, 0, self.n_held, out)
        else:
            add_rows_double(<double **> self.rows, coef, self.size, 0, self.n_held, out)
        self._add_symmetric(coef, out + self.n_held)

    cdef void _add_symmetric(self, const double *coef, double *out) noexcept:
        """out[0 : size] += K(sample, sample) @ coef."""
        cdef Py_ssize_t j
        for j in range(self.size):
            self.rows[j] = self.base + j * self.stride + self.n_held * self.item
        if self.single:
            add_symmetric_float(<float **> self.rows, 0, self.size, self.size, coef, out)
        else:
            add_symmetric_double(<double **> self.rows, 0, self.size, self.size, coef, out)

    cdef void drop_held(self) noexcept:
        self.base += self.n_held * self.item
        self.n_held = 0

    cdef double dot_row(self, Py_ssize_t j, Py_ssize_t start, const double *a, Py_ssize_t n) noexcept:
        if self.single:
            return dot_row_float(<const float *> (self.base + j * self.stride) + start, a, n)
        return dot_row_double(<const double *> (self.base + j * self.stride) + start, a, n)


def products(source, rows, columns, A):
    """Return k(rows, columns) @ A for ids of a source, tile by tile where the source has an engine."""
    if isinstance(getattr(source, "rows", None), KernelRows):
        found = _row_products(source.rows, rows, columns, A)
        if found is not None:
            return found
    return source.products(rows, columns, A)


cdef _row_products(KernelRows rows, queries, columns, A):
    if rows.in_place or rows.kernel.calls_python:
        return None
    rows.n_evaluations += len(queries) * len(columns)
    return multiply(make_engine(rows.kernel, rows.operand.take(queries), rows.operand.take(columns)), A)
