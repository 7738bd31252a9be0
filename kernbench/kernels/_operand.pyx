"""Rows of data prepared for the kernel engine: one precision, contiguous, dense or sparse, with their norms."""

from libc.stdint cimport int32_t, int64_t

import numpy as np
from scipy import sparse

# Share of stored entries below which sweeping sparse rows beats the dense product (measured against sgemm on AVX2).
SPARSE_BELOW = 0.25
CENTRE_ROWS = 1000  # rows that tell where the origin goes


cdef class Operand:
    """Rows of data as the engine wants them: one precision, contiguous, with their norms.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    kernel : Kernel
        Says which norms are needed.
    dtype : {float32, float64}
    like : Operand, optional
        Take storage (dense or sparse) and centre from there, so that the two can be multiplied.
    """

    def __init__(self, X, kernel, dtype, Operand like=None):
        self.single = np.dtype(dtype) == np.float32
        self.n_rows, self.n_features = X.shape
        self.source = X
        form = kernel.form
        self.is_sparse = False
        if form == "callable":
            self.arrays = ()
            return
        if form == "precomputed":
            dense = X.toarray() if sparse.issparse(X) else X
            self._point_to_dense(np.ascontiguousarray(dense, dtype=dtype), None, np.zeros(1, dtype))
            return
        if like is not None and self.n_features != like.n_features:
            raise ValueError(f"X has {self.n_features} features, Z has {like.n_features}: they must agree")
        self.is_sparse = _prefers_sparse(X) if like is None else like.is_sparse
        centre = None if like is None else like.arrays[1]
        if self.is_sparse:
            self._set_sparse(X, kernel, dtype, centre)
        else:
            self._set_dense(X, kernel, dtype, centre)

    def _set_dense(self, X, kernel, dtype, centre):
        norms = np.zeros(1)
        if kernel.form == "polynomial":
            X = X.astype(dtype).toarray() if sparse.issparse(X) else X
            dense = np.ascontiguousarray(X, dtype=dtype)
        else:
            # Distances do not depend on origin and unit, their rounding does: |x|^2 + |z|^2 - 2 <x, z> cancels far
            # from the origin, and squares of tiny or huge numbers leave the range of float32.
            X = X.toarray() if sparse.issparse(X) else X
            if centre is None:
                centre = _centre(X)
            with np.errstate(over="ignore"):
                moved = X - centre
                moved /= kernel.unit
                dense = np.ascontiguousarray(moved, dtype=dtype)
                if kernel.form == "gaussian":
                    norms = np.einsum("ij,ij->i", dense, dense, dtype=np.float64) * kernel.constants[0]
                    norms = norms.astype(dtype)
            _require_in_range(norms if kernel.form == "gaussian" else dense)
        self._point_to_dense(dense, centre, np.ascontiguousarray(norms, dtype=dtype))

    def _point_to_dense(self, dense, centre, norms):
        self.arrays = (dense, centre, norms)
        self.values = <void *> <size_t> dense.ctypes.data
        self.norms = <void *> <size_t> norms.ctypes.data

    def _set_sparse(self, X, kernel, dtype, centre):
        X = sparse.csr_matrix(X)
        if kernel.form == "polynomial":
            values, norms = X.data.astype(dtype, copy=False), np.zeros(X.shape[0], dtype=dtype)
        else:
            # As for dense rows, but only columns without zeros can move without filling up.
            centre = _centre_of_full_columns(X) if centre is None else centre
            X = _moved(X.astype(np.float64), centre)
            with np.errstate(over="ignore"):
                values = (X.data / kernel.unit).astype(dtype)
                sizes = values.astype(np.float64)
                sizes = np.abs(sizes) if kernel.form == "laplacian" else kernel.constants[0] * sizes**2
                norms = sparse.csr_matrix((sizes, X.indices, X.indptr), shape=X.shape).sum(axis=1)
                norms = np.asarray(norms).ravel().astype(dtype)
            _require_in_range(norms)
        self._point_to_sparse(values, X.indices, X.indptr, norms, centre)

    def _point_to_sparse(self, values, columns, starts, norms, centre):
        values, norms = np.ascontiguousarray(values), np.ascontiguousarray(norms)
        columns = np.ascontiguousarray(columns, dtype=np.int32)
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        self.arrays = (values, centre, columns, starts, norms)
        self.values = <void *> <size_t> values.ctypes.data
        self.columns = <const int32_t *> <size_t> columns.ctypes.data
        self.starts = <const int64_t *> <size_t> starts.ctypes.data
        self.norms = <void *> <size_t> norms.ctypes.data


    def take(self, indices):
        """Return the operand of a subset of the rows; centre and norms stay as they are."""
        cdef Operand part = Operand.__new__(Operand)
        part.single, part.is_sparse = self.single, self.is_sparse
        part.n_rows, part.n_features = len(indices), self.n_features
        part.source = None if self.source is None else self.source[indices]
        if not self.arrays:
            part.arrays = ()
        elif self.is_sparse:
            values, centre, columns, starts, norms = self.arrays
            rows = sparse.csr_matrix((values, columns, starts), shape=(self.n_rows, self.n_features))[indices]
            part._point_to_sparse(rows.data, rows.indices, rows.indptr, norms[indices], centre)
        else:
            dense, centre, norms = self.arrays
            part._point_to_dense(dense[indices], centre, norms[indices] if len(norms) == self.n_rows else norms)
        return part


def _centre(X):
    """The median of some of the rows: near most of them, which the mean is not when one row is far away."""
    if len(X) == 0:
        return np.zeros(X.shape[1])
    return np.median(np.asarray(X[:: max(1, len(X) // CENTRE_ROWS)], dtype=np.float64), axis=0)


def _centre_of_full_columns(X):
    """The same for each column that has no zeros; 0 for the others."""
    centre = np.zeros(X.shape[1])
    columns = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0])
    if X.shape[0] and len(columns):
        centre[columns] = _centre(X[:: max(1, X.shape[0] // CENTRE_ROWS)][:, columns].toarray())
    return centre


def _moved(X, centre):
    """X minus `centre`, sparse."""
    columns = np.flatnonzero(centre)
    if len(columns) == 0:
        return X
    n = X.shape[0]
    shift = (np.tile(centre[columns], n), np.tile(columns, n), np.arange(n + 1) * len(columns))
    return X - sparse.csr_matrix(shift, shape=X.shape)


def _require_in_range(values):
    # NaN in the data stays NaN, as in NumPy; finite data must not become NaN.
    if np.any(np.isinf(values)):
        remedy = ", or use dtype=float64" if values.dtype == np.float32 else ""
        raise ValueError(f"X holds values too large for this kernel in {values.dtype}: scale the features{remedy}")


def _prefers_sparse(X):
    """Whether the sparse sweep is the faster way through X."""
    n_entries = X.shape[0] * X.shape[1]
    if n_entries == 0 or X.shape[1] >= 2**31 - 1:
        return sparse.issparse(X)
    stored = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return stored < SPARSE_BELOW * n_entries and X.shape[1] > 8
