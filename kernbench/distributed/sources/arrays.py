"""Rows that are in memory already."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from kernbench.validation.arrays import check_indices, without_duplicates
from kernbench.validation.foreign import column_names, dense_array, host_array, without_sparse_columns


class ArraySource:
    """An array, CSR matrix or table, and its labels."""

    in_memory, is_slow = True, False

    def __init__(self, X, y=None, *, number=0):
        self.title = f"chunk {number}"
        X = X if isinstance(X, Iterator) else host_array(X, self.title)  # an iterator has a message of its own
        self._y = None if y is None else np.asarray(host_array(y, f"y of {self.title}"))
        names = column_names(X)
        self.names = None if names is None else np.asarray(names, dtype=object)
        X = without_sparse_columns(X)
        self.is_sparse = sparse.issparse(X)
        if self.is_sparse:
            check_indices(X)
            X = without_duplicates(X.tocsr())
            self.n_stored = X.nnz
        else:
            kind, X = type(X).__name__, dense_array(X)
            if X.ndim == 0:  # an iterator, for instance
                raise ValueError(
                    f"{self.title} is a {kind}, not rows: give files, arrays, or a list of these, which are read again "
                    "in each pass"
                )
            if X.ndim != 2:
                raise ValueError(f"{self.title} must have two dimensions, got shape {X.shape}")
        if X.dtype.kind == "c":  # NumPy would drop the imaginary parts
            raise ValueError(f"{self.title} must hold real numbers, got dtype {X.dtype}")
        self.dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        self._X, (self.n_rows, self.n_columns) = X, X.shape
        if self._y is not None and self._y.shape != (self.n_rows,):
            raise ValueError(f"{self.title} has {self.n_rows} rows and labels of shape {self._y.shape}")

    def read(self, start, stop):
        """Return rows start to stop - 1."""
        rows = self._X[start:stop]
        if self.is_sparse:
            return rows.astype(self.dtype, copy=False)
        return np.ascontiguousarray(rows, dtype=self.dtype)

    def read_into(self, start, out):
        """Fill `out` with the rows from `start` on."""
        out[:] = self._X[start : start + len(out)]

    def take(self, indices):
        """Return some rows."""
        return self._X[indices]

    def labels(self):
        """Return the labels, None without them."""
        return self._y
