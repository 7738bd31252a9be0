"""Preparation of rows for a map: lifted, in the precision of the arguments, dense or sparse."""

import numpy as np
from scipy import sparse

from kernbench.kernels.base import Kernel
from kernbench.validation.arrays import check_sparse_width

SPARSE_BELOW = 0.25  # share of stored entries below which the sparse sweep beats the dense product
DENSE_COLUMNS = 8  # rows this short are always dense
SLICE_VALUES = 2**18  # of a temporary array that is as wide as the features


def prefers_sparse(X):
    """Whether the sparse sweep is the faster way through X."""
    if not sparse.issparse(X) or X.shape[1] <= DENSE_COLUMNS:
        return False
    return X.nnz < SPARSE_BELOW * X.shape[0] * X.shape[1]


def row_slices(n_rows, values_per_row):
    """Yield slices of rows such that `values_per_row` values for each of them fit into a few megabytes."""
    height = max(1, SLICE_VALUES // max(1, values_per_row))
    for start in range(0, n_rows, height):
        yield slice(start, min(n_rows, start + height))


def indices_of(X):
    """Return columns and row starts of a CSR matrix, as the compiled loops take them: int32 and int64."""
    check_sparse_width(X.shape[1])
    return X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64, copy=False)


def is_lifted(kernel):
    """Whether the kernel transforms the entries first."""
    return type(kernel).lift is not Kernel.lift


def lifted(kernel, X, dtype):
    """Return the rows that the kernel's map multiplies.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
    dtype : dtype

    Returns
    -------
    rows : ndarray (C-ordered) or CSR matrix of shape (n, d), `dtype`
        X itself if it needs no change. In sparse rows, an entry is the lifted value minus that of an entry of 0.
    zero : float
        The lifted value of an entry of 0, if the rows are sparse; else 0.
    """
    zero = 0.0
    if is_lifted(kernel):
        if sparse.issparse(X):
            zero = float(kernel.lift(np.zeros(1))[0])
            values = kernel.lift(X.data.astype(np.float64)) - zero
            return sparse.csr_matrix((values.astype(dtype), X.indices, X.indptr), shape=X.shape), zero
        X = kernel.lift(np.asarray(X, dtype=np.float64))
    if sparse.issparse(X):
        return X.astype(dtype, copy=False), zero
    return np.ascontiguousarray(X, dtype=dtype), zero


def as_floats(X):
    """Return checked rows as float32 or float64, dense ones in C order."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return X.astype(dtype, copy=False) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=dtype)
