"""The centre that is subtracted from rows, for kernels of the difference x - z.

Distances do not depend on origin and unit, but their rounding errors do: |x|^2 + |z|^2 - 2 <x, z> cancels far from the
origin, and squares of tiny or huge numbers leave the range of float32.
"""

import numpy as np
from scipy import sparse

CENTRE_ROWS = 100  # largest number of rows from which the centre is computed


def centre_of_dense(kernel, X):
    """Return the median of each column of the lifted rows."""
    return _middle(kernel.lift(as_float64(_some(X))))


def as_float64(X):
    """A float64 copy, dense."""
    return X.toarray().astype(np.float64, copy=False) if sparse.issparse(X) else np.array(X, dtype=np.float64)


def _some(X):
    """At most `CENTRE_ROWS` of the rows, evenly spread."""
    return X[:: max(1, -(-X.shape[0] // CENTRE_ROWS))]


def _middle(rows):
    """Return the (upper) median of each column, which, unlike the mean, is robust to outliers.

    Repeated rows count once, so that a row of weight k and k copies of it are rounded alike.
    """
    if rows.size == 0:
        return np.zeros(rows.shape[1])
    rows = np.ascontiguousarray(rows)
    whole = rows.view(f"V{rows.shape[1] * rows.itemsize}")  # a row is one value
    distinct = dict.fromkeys(whole.ravel().tolist())
    if len(distinct) < len(rows):
        rows = np.frombuffer(b"".join(distinct), rows.dtype).reshape(-1, rows.shape[1])
    return np.sort(rows, axis=0)[len(rows) // 2]  # five times as fast as np.median


def centre_of_sparse(X):
    """Return the median of each column that has no zeros; 0 for the others."""
    return middle_of_columns(X, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]))


def middle_of_columns(X, columns):
    """Return the median of some columns of X, dense or sparse; 0 for the others."""
    centre = np.zeros(X.shape[1])
    if X.shape[0] and len(columns):
        centre[columns] = _middle(as_float64(_some(X)[:, columns]))
    return centre


def moved(X, centre):
    """X minus `centre`, sparse."""
    columns = np.flatnonzero(centre)
    if len(columns) == 0:
        return X
    n = X.shape[0]
    shift = (np.tile(centre[columns], n), np.tile(columns, n), np.arange(n + 1) * len(columns))
    return X - sparse.csr_matrix(shift, shape=X.shape)
