"""Types that all readers return: integral labels as int64, CSR matrices with 32-bit indices."""

import numpy as np

MAX_INDEX = 2**31 - 1  # scikit-learn's solvers reject 64-bit column indices


def integers_if_whole(y):
    """Return float labels as int64 when each of them is a whole number, else unchanged."""
    # As a Python number: 2^53 overflows float16.
    if float(np.abs(y).max(initial=0)) < 2**53 and np.all(y == np.rint(y)):
        return y.astype(np.int64)
    return y


def with_small_indices(X):
    """Convert the indices of a CSR matrix to int32, in place, where they fit; return the matrix."""
    if max(X.shape[1], X.nnz) <= MAX_INDEX:
        X.indices = X.indices.astype(np.int32, copy=False)
        X.indptr = X.indptr.astype(np.int32, copy=False)
    return X
