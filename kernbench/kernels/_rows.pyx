"""Rows of a training kernel matrix for Python: in batches, as blocks, and products with them."""

from cython.parallel cimport prange
from libc.stdlib cimport free
from libc.string cimport memcpy

from kernbench.kernels._cached_rows cimport CachedRows
from kernbench.kernels.engine._engine cimport allocate
from kernbench.kernels.engine._tiles cimport add_rows_double, add_rows_float
from kernbench.kernels.engine.operands._operand cimport Operand

import numpy as np

from kernbench.kernels.blocks import CHUNK_BYTES
from kernbench.kernels.engine._products import add_weighted_rows, fill_block, multiply
from kernbench.kernels.engine.engines import make_engine
from kernbench.kernels.threads import single_threaded_blas

cdef enum:
    PRODUCT_ROWS = 64       # rows of a product with several columns that are fetched at a time
    PRODUCT_TILE = 1024     # ... and their columns that remain in cache: 256 KB in float32


cdef class KernelRows(CachedRows):
    """The rows of K(X, X).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        For a precomputed kernel the (n, n) matrix itself.
    kernel : Kernel
    cache_bytes : int, default=500_000_000
        Upper bound of the cache; at least two rows are always kept.
    dtype : {float32, float64}, default=float32
        Precision of the rows.
    keep : bool, default=False
        Cache rows even where it is cheaper to compute them again, for several solvers that need the same rows.

    Attributes
    ----------
    n_rows : int
    n_evaluations : int
        Kernel values computed so far.
    n_cached : int
        Kernel values served from the cache so far.
    capacity : int
        Rows the cache can hold.
    on_demand : bool
        Whether fetching rows one by one is efficient: the cache holds all of them, and the kernel is not a Python
        function.
    cheap : bool
        Whether the data have so few features or stored entries that :meth:`step` is faster than a cache.
    """

    def batch(self, indices):
        """Return the rows `indices` as a new array of shape (m, n_rows), through the cache."""
        cdef:
            const Py_ssize_t[::1] wanted = self._checked(indices, self.n_rows)
            Py_ssize_t m = wanted.shape[0], first = 0, count, q
            void **rows
        out = np.empty((m, self.n_rows), dtype=self.dtype)
        cdef char *target = <char *> <size_t> out.ctypes.data
        if out.size == 0:
            return out
        rows = <void **> allocate(m * sizeof(void *))
        try:
            with single_threaded_blas():
                while first < m:
                    count = min(self.capacity, m - first)
                    self.fetch(&wanted[first], count, rows)
                    for q in range(count):
                        memcpy(target + (first + q) * self.row_bytes, rows[q], self.row_bytes)
                    first += count
        finally:
            free(rows)
        return out

    def row(self, index):
        """Return one row, shape (n_rows,)."""
        return self.batch([index])[0]

    def block(self, rows, columns):
        """Return k(X[rows], X[columns]), shape (len(rows), len(columns)); not cached."""
        rows, columns = self._checked(rows, self.n_rows), self._checked(columns, self.n_rows)
        self.n_evaluations += len(rows) * len(columns)
        if self.in_place:
            return self.engine.X.prepared.data[np.ix_(rows, columns)]
        with single_threaded_blas():
            return fill_block(make_engine(self.engine.kernel, self.engine.X, self.engine.Z.take(columns)), rows)

    def product(self, rows, columns, a, *, count=True):
        """Return k(X[rows], X[columns]) @ a in float64 without storing the block.

        Indices are those of all rows, also while restricted; the cache is neither read nor changed.

        Parameters
        ----------
        rows, columns : array-like of int
        a : array-like of shape (len(columns),)
        count : bool, default=True
            Count the values as evaluations; False for values used only in reports.
        """
        n = (<Operand> self.operand).n_rows
        rows, columns = self._checked(rows, n), self._checked(columns, n)
        a = _checked_vector(a, len(columns))
        if count:
            self.n_evaluations += len(rows) * len(columns)
        return self._product(self.kernel, self.operand, rows, columns, a)

    def add_products(self, columns, A, double[:, ::1] out):
        """out[c] += K[:, columns] A[:, c] in float64 for each column c of A, through the cache.

        Each kernel row is fetched once. A tile of the rows remains in cache while it is added for all columns of A;
        zeros in A cost nothing.

        Parameters
        ----------
        columns : array-like of int
        A : array-like of shape (len(columns), n_products)
        out : ndarray of shape (n_products, n_rows)
        """
        cdef:
            const Py_ssize_t[::1] wanted = self._checked(columns, self.n_rows)
            Py_ssize_t m = wanted.shape[0], n = self.n_rows, n_products = out.shape[0], first = 0, count, q, c, t
            Py_ssize_t height = min(PRODUCT_ROWS, self.capacity), n_tiles = (n + PRODUCT_TILE - 1) // PRODUCT_TILE
            const double[:, ::1] weights = np.ascontiguousarray(A, dtype=np.float64)
            bint single = self.single
            Py_ssize_t[::1] used = np.zeros(n_products, dtype=np.intp)  # rows of a column of A, of those fetched
            double[:, ::1] steps = np.empty((n_products, height))
            size_t[:, ::1] addresses = np.empty((n_products, height), dtype=np.uintp)
            void *rows[PRODUCT_ROWS]
        if weights.shape[0] != m or weights.shape[1] != n_products or out.shape[1] != n:
            raise ValueError(f"A must have the shape ({m}, {n_products}), and out ({n_products}, {n})")
        with single_threaded_blas(), nogil:
            while first < m:
                count = min(height, m - first)
                self.fetch(&wanted[first], count, rows)
                for c in range(n_products):
                    used[c] = 0
                    for q in range(count):
                        if weights[first + q, c] != 0.0:
                            steps[c, used[c]], addresses[c, used[c]] = weights[first + q, c], <size_t> rows[q]
                            used[c] += 1
                for t in prange(n_tiles, schedule="static", use_threads_if=n * count * n_products > 200000):
                    for c in range(n_products):
                        if single:
                            add_rows_float(<float **> &addresses[c, 0], &steps[c, 0], used[c], t * PRODUCT_TILE,
                                           min(n, (t + 1) * PRODUCT_TILE), &out[c, 0])
                        else:
                            add_rows_double(<double **> &addresses[c, 0], &steps[c, 0], used[c], t * PRODUCT_TILE,
                                            min(n, (t + 1) * PRODUCT_TILE), &out[c, 0])
                first += count

    def step(self, columns, a):
        """Return K[:, columns] @ a over the present rows, float64, bypassing the cache."""
        columns = self._checked(columns, self.n_rows)
        a = _checked_vector(a, len(columns))
        self.n_evaluations += self.n_rows * len(columns)
        return self._product(self.engine.kernel, self.engine.X, np.arange(self.n_rows), columns, a)

    def matvec(self, a):
        """Return K @ a, float64, shape (n_rows,), without storing K or counting; zeros of `a` cost nothing."""
        a = _checked_vector(a, self.n_rows)
        used = np.flatnonzero(a)
        return self._product(self.engine.kernel, self.engine.X, np.arange(self.n_rows), used, a[used])

    def _product(self, kernel, Operand operand, rows, columns, a):
        out = np.zeros(len(rows))
        if len(columns) == 0 or len(rows) == 0:
            return out
        if self.in_place or kernel.calls_python:
            height = max(1, int(CHUNK_BYTES // (8 * len(columns))))
            for first in range(0, len(rows), height):
                part = rows[first : first + height]
                if self.in_place:
                    values = operand.prepared.data[np.ix_(part, columns)]
                else:
                    values = fill_block(make_engine(kernel, operand, operand.take(columns)), part)
                out[first : first + height] = values.astype(np.float64) @ a
            return out
        everything = np.arange(operand.n_rows)
        X = operand if np.array_equal(rows, everything) else operand.take(rows)
        a = np.ascontiguousarray(a)
        with single_threaded_blas():
            if len(rows) >= len(columns):
                # Panels of the shorter side are multiplied by the longer one.
                add_weighted_rows(make_engine(kernel, operand, X), columns, a, out)
                return out
            Z = operand if np.array_equal(columns, everything) else operand.take(columns)
            return multiply(make_engine(kernel, X, Z), a[:, None]).ravel()

    def diagonal(self):
        """Return k(x_i, x_i) for all rows, float64."""
        return np.ascontiguousarray(self.kernel.diagonal(self.engine.X.source), dtype=np.float64)

    def row_terms(self):
        """Return the kernel's `row_terms` of all stored rows; for a Gaussian kernel half the squared norms."""
        return (<Operand> self.operand).prepared.terms


def _checked_vector(a, n):
    a = np.asarray(a, dtype=np.float64)
    if a.shape != (n,):
        raise ValueError(f"a must have one entry for each of the {n} columns, got shape {a.shape}")
    return a
