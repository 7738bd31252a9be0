"""Sparse data without the columns that have no entries: their weights are 0 at the optimum."""

import numpy as np
from scipy import sparse


def without_empty_columns(design):
    """Return the design of the columns that have entries, and their indices.

    Parameters
    ----------
    design : FeatureDesign

    Returns
    -------
    design : FeatureDesign
        `design` itself if no column is empty; otherwise a design that shares the stored values.
    columns : ndarray of intp, or None
        None if no column is empty.
    """
    X = design.X
    if not sparse.issparse(X):
        return design, None
    used = np.zeros(X.shape[1], dtype=bool)
    used[X.indices] = True
    columns = np.flatnonzero(used)
    if not 0 < len(columns) < len(used):
        return design, None
    place = np.cumsum(used, dtype=np.int32) - 1
    narrow = sparse.csr_matrix(
        (X.data, place[X.indices], X.indptr), shape=(X.shape[0], len(columns)), copy=False
    )
    return type(design)(narrow), columns
