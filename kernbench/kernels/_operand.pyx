"""Rows of data prepared for the kernel engine: one precision, contiguous, dense or sparse, with their norms."""

from libc.stdint cimport int32_t, int64_t

import numpy as np
from scipy import sparse

# Share of stored entries below which sweeping sparse rows beats the dense product (measured against sgemm on AVX2).
SPARSE_BELOW = 0.25


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
        self.is_sparse = _prefers_sparse(X) if like is None else like.is_sparse
        if self.is_sparse:
            self._set_sparse(X, kernel, dtype)
        else:
            centre = None if like is None else like.arrays[1]
            self._set_dense(X, kernel, dtype, centre, like is None)

    def _set_dense(self, X, kernel, dtype, centre, choose_centre):
        if sparse.issparse(X):
            X = X.astype(dtype).toarray()
        if kernel.form == "gaussian" and choose_centre:
            # Distances do not depend on the origin, their rounding does: |x|^2 + |z|^2 - 2 <x, z> cancels far from it.
            centre = np.asarray(X, dtype=np.float64).mean(axis=0) if len(X) else np.zeros(X.shape[1])
        if kernel.form == "gaussian":
            dense = np.ascontiguousarray(X - centre, dtype=dtype)
            norms = np.einsum("ij,ij->i", dense, dense, dtype=np.float64) * kernel.constants[0]
        else:
            dense = np.ascontiguousarray(X, dtype=dtype)
            norms = np.zeros(1)
        self._point_to_dense(dense, centre, np.ascontiguousarray(norms, dtype=dtype))

    def _point_to_dense(self, dense, centre, norms):
        self.arrays = (dense, centre, norms)
        self.values = <void *> <size_t> dense.ctypes.data
        self.norms = <void *> <size_t> norms.ctypes.data

    def _set_sparse(self, X, kernel, dtype):
        X = sparse.csr_matrix(X)
        entries = X.astype(np.float64)
        entries.data = np.abs(entries.data) if kernel.form == "laplacian" else entries.data**2
        norms = np.asarray(entries.sum(axis=1)).ravel()
        if kernel.form == "gaussian":
            norms *= kernel.constants[0]
        self._point_to_sparse(X.data.astype(dtype, copy=False), X.indices, X.indptr, norms.astype(dtype))

    def _point_to_sparse(self, values, columns, starts, norms):
        values, norms = np.ascontiguousarray(values), np.ascontiguousarray(norms)
        columns = np.ascontiguousarray(columns, dtype=np.int32)
        starts = np.ascontiguousarray(starts, dtype=np.int64)
        self.arrays = (values, columns, starts, norms)
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
            values, columns, starts, norms = self.arrays
            rows = sparse.csr_matrix((values, columns, starts), shape=(self.n_rows, self.n_features))[indices]
            part._point_to_sparse(rows.data, rows.indices, rows.indptr, norms[indices])
        else:
            dense, centre, norms = self.arrays
            part._point_to_dense(dense[indices], centre, norms[indices] if len(norms) == self.n_rows else norms)
        return part


def _prefers_sparse(X):
    """Whether the sparse sweep is the faster way through X."""
    n_entries = X.shape[0] * X.shape[1]
    if n_entries == 0 or X.shape[1] >= 2**31 - 1:
        return sparse.issparse(X)
    stored = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return stored < SPARSE_BELOW * n_entries and X.shape[1] > 8
