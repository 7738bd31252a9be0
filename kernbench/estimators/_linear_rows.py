"""The rows that the weights of a `LinearSVC` are found on: those of X, with a constant column for the intercept."""

import numpy as np
from scipy import sparse

FEW_VALUES = 1 << 14  # stored values; a million steps on so few take some hundredths of a second
FEW_STEPS = 1 << 20


def with_constant(X, scaling, dtype):
    """Return X with a last column of `scaling`, in one copy, or X itself for None.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    scaling : float, or None
    dtype : dtype
        Of the result.

    Returns
    -------
    ndarray in C order or CSR matrix of shape (n_samples, n_features + 1)
    """
    if scaling is None:
        return X.astype(dtype, copy=False)
    n, d = X.shape
    if not sparse.issparse(X):
        rows = np.empty((n, d + 1), dtype=dtype)
        rows[:, :d], rows[:, d] = X, scaling
        return rows
    # The new entry is the last of its row, so the columns stay in order.
    index = np.int32 if X.nnz + n < 2**31 and d < 2**31 - 1 else np.int64
    starts = X.indptr.astype(index) + np.arange(n + 1, dtype=index)
    last = starts[1:] - 1
    is_old = np.ones(X.nnz + n, dtype=bool)
    is_old[last] = False
    values, columns = np.empty(X.nnz + n, dtype=dtype), np.empty(X.nnz + n, dtype=index)
    values[last], columns[last] = scaling, d
    values[is_old], columns[is_old] = X.data, X.indices
    rows = sparse.csr_matrix((values, columns, starts), shape=(n, d + 1))
    rows.has_sorted_indices = rows.has_canonical_format = True  # as X is: see `check_rows`
    return rows


def least_iterations(X):
    """Return the steps that a solver may take on X to get beyond the tolerance, to the last digit if it can.

    On little data they cost next to nothing, and make the weights those of the optimum, however the rows are
    ordered, repeated or weighted.
    """
    n_values = X.nnz if sparse.issparse(X) else X.size
    return FEW_STEPS if n_values <= FEW_VALUES else 0
