"""Sparse data without the columns that have no entries: their weights are 0 at the optimum."""

import numpy as np
from scipy import sparse


def without_empty_columns(X):
    """Return the columns of X that have entries, and their indices.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    X : ndarray or CSR matrix
        X itself if no column is empty; otherwise a matrix that shares the stored values.
    columns : ndarray of intp, or None
        None if no column is empty.
    """
    if not sparse.issparse(X):
        return X, None
    used = np.zeros(X.shape[1], dtype=bool)
    used[X.indices] = True
    columns = np.flatnonzero(used)
    if not 0 < len(columns) < len(used):
        return X, None
    place = np.cumsum(used, dtype=np.int32) - 1
    shape = (X.shape[0], len(columns))
    return sparse.csr_matrix((X.data, place[X.indices], X.indptr), shape=shape, copy=False), columns


def widen(coef, columns, n_features):
    """Return coefficients of some columns, or of all where these are None, with zeros for the others."""
    if columns is None:
        return coef.copy()
    wide = np.zeros(n_features)
    wide[columns] = coef
    return wide
