"""Rows of a training kernel matrix in float32 and in float64, one precision at a time."""

import numpy as np

from kernbench.kernels.blocks import as_rows, matmul
from kernbench.kernels.rows import DEFAULT_CACHE_BYTES, KernelRows


class TwoPrecisionRows:
    """The rows of K(X, X) for a solver that begins in float32 and ends in float64.

    Only one precision has a cache at any time, so that `cache_bytes` bounds both.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    kernel : Kernel
        Neither precomputed nor a Python function, whose values have one precision.
    cache_bytes : int, default=500_000_000
    dtype : {float64}, default=float64
        Precision of the products and of the final result.

    Attributes
    ----------
    n_rows : int
    n_evaluations : int
        Kernel values computed so far, of either precision.
    """

    dtype = np.float64  # of results

    def __init__(self, X, kernel, *, cache_bytes=DEFAULT_CACHE_BYTES, dtype=np.float64):
        if np.dtype(dtype) != np.float64:
            raise ValueError(f"rows of two precisions end in float64, got dtype {dtype!r}")
        if kernel.calls_python or kernel.routine == "precomputed":
            raise ValueError(f"kernel values are given, not computed, for {kernel}: they have one precision")
        self.X, self.kernel, self._cache_bytes = as_rows(X), kernel, cache_bytes
        self.n_rows, self._n_before = self.X.shape[0], 0
        self._rows = KernelRows(self.X, kernel, cache_bytes=cache_bytes, dtype=np.float32)

    @property
    def n_evaluations(self):
        return self._n_before + self._rows.n_evaluations

    def of(self, dtype):
        """Return the unrestricted `KernelRows` of one precision; the cache of the other one is released."""
        if self._rows.dtype is not dtype:
            rows = KernelRows(self.X, self.kernel, cache_bytes=self._cache_bytes, dtype=dtype)
            self._n_before, self._rows = self.n_evaluations, rows
        self._rows.release()
        return self._rows

    def release(self):
        """Return to all rows."""
        self._rows.release()

    def product(self, columns, a, *, count=True):
        """Return k(X, X[columns]) @ a in float64 throughout, without storing the block.

        Besides the result it needs memory for the columns and for some rows of X at a time, not for all of X in
        float64.

        Parameters
        ----------
        columns : ndarray of int
        a : ndarray of shape (len(columns),)
        count : bool, default=True
            Count the values as evaluations; False for values used only in reports.
        """
        if len(columns) == 0:
            return np.zeros(self.n_rows)
        if count:
            self._n_before += self.n_rows * len(columns)
        return matmul(self.kernel, self.X, self.X[columns], a, dtype=np.float64)

    def diagonal(self):
        """Return k(x_i, x_i) for all rows, float64."""
        return self._rows.diagonal()
