"""Checks of arrays and sparse matrices that need no estimator: indices within bounds, finite entries."""

import numpy as np
from scipy import sparse

COMPRESSED = ("csr", "csc", "bsr")
MAX_SIZE = 2**31 - 1  # rows or columns of a matrix in a file: scikit-learn's solvers reject 64-bit indices


def csr_from_parts(data, indices, indptr, shape, name="X", *, make=sparse.csr_matrix):
    """Return a CSR matrix made of arrays that come from a file, after a check of every index.

    The check comes before SciPy's: ``check_format(full_check=True)`` does not check indices where ``indptr[-1]`` is
    0, and ``sort_indices`` then writes past the end of the arrays.

    Parameters
    ----------
    data, indices, indptr : ndarray
        One-dimensional arrays, `data` of numbers, the others of integers. Unlike in a matrix in memory there
        may be no spare room: ``indptr[-1]``, the length of `indices` and that of `data` must be equal.
    shape : sequence of two ints
    name : str, default="X"
        Name of the matrix in messages.
    make : {csr_matrix, csr_array}, default=csr_matrix

    Raises
    ------
    ValueError
        If the arrays are not a CSR matrix; the message names the first fault.
    """
    invalid = f"{name} is not a valid CSR matrix"
    shape = np.asarray(shape)
    for part, array in (("data", data), ("indices", indices), ("indptr", indptr), ("shape", shape)):
        kinds, what = ("biuf", "numbers") if part == "data" else ("iu", "integers")
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kinds:
            raise ValueError(f"{invalid}: {part} must be a one-dimensional array of {what}")
    if shape.shape != (2,) or any(not 0 <= int(size) <= MAX_SIZE for size in shape):
        raise ValueError(f"{invalid}: its shape must be two sizes from 0 to {MAX_SIZE}, got {shape.tolist()}")
    n_rows, n_columns = (int(size) for size in shape)
    _check_compressed(indptr, indices, len(data), n_rows, n_columns, ("row", "column"), invalid)
    if not int(indptr[-1]) == len(indices) == len(data):
        raise ValueError(
            f"{invalid}: indptr ends with {indptr[-1]}, but there are {len(indices)} indices and {len(data)} data"
        )
    return make((data, indices, indptr), shape=(n_rows, n_columns))


def without_room(X):
    """Return a sparse matrix without unused room behind its last entry, which sums by SciPy and NumPy would include.

    Parameters
    ----------
    X : sparse matrix
        With valid indices, see :func:`check_indices`.

    Returns
    -------
    sparse matrix
        X itself if there is none.
    """
    if X.format in COMPRESSED and X.ndim == 2 and len(X.data) > X.indptr[-1]:
        X = X.copy()
        X.prune()
    return X


def without_duplicates(X):
    """Return a CSR matrix with sorted indices, in which the entries at one place are added up; X itself if it is one.

    The caller's matrix is not changed.
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_sparse_width(n_features):
    """Raise ValueError if the columns of sparse rows have larger numbers than the compiled loops take."""
    if n_features > 2**31:
        raise ValueError(
            f"X has {n_features} features: the columns of sparse rows are numbered in 32 bits, up to 2**31"
        )


def check_indices(X, name="X"):
    """Raise ValueError if a sparse matrix has indices out of bounds: compiled code would read past its arrays.

    SciPy does not check the indices of ``csr_matrix((data, indices, indptr), shape=...)``, nor those of any matrix
    whose arrays were changed after it was built. One pass over `indices` and one over `indptr`; 0.1 ms for half a
    million entries.

    Parameters
    ----------
    X : object
        Passes unless it is a sparse matrix.
    name : str, default="X"
    """
    if not sparse.issparse(X) or X.ndim != 2:
        return
    invalid = f"{name} is not a valid {X.format.upper()} matrix"
    if X.format in COMPRESSED:
        n_rows, n_columns = _size_in_blocks(X, invalid) if X.format == "bsr" else X.shape
        axes = ("row", "column")
        if X.format == "csc":
            n_rows, n_columns, axes = n_columns, n_rows, ("column", "row")
        _check_compressed(X.indptr, X.indices, len(X.data), n_rows, n_columns, axes, invalid)
    elif X.format == "coo":
        _check_coordinates(X, invalid)
    elif X.format == "lil":
        _check_lists(X, invalid)
    elif X.format == "dia":
        _check_diagonals(X, invalid)


def _check_compressed(starts, indices, n_values, n_rows, n_columns, axes, invalid):
    """Check `starts` (indptr) and `indices` of `n_rows` rows; `axes` is what rows and columns are called."""
    for part, array in (("indptr", starts), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{invalid}: {part} must be a one-dimensional array of integers")
    if (
        len(starts) != n_rows + 1
        or starts[0] != 0
        or starts[-1] > min(len(indices), n_values)
        or np.any(starts[1:] < starts[:-1])
    ):
        raise ValueError(
            f"{invalid}: indptr must have {n_rows + 1} entries that begin with 0, never decrease and end within "
            "indices and data"
        )
    used = indices[: starts[-1]]
    place = _first_outside(used, n_columns)
    if place is not None:
        row = int(np.searchsorted(starts, place, side="right")) - 1
        raise ValueError(
            f"{invalid}: {axes[0]} {row} has the {axes[1]} index {used[place]}, but {axes[1]} indices go from 0 to "
            f"{n_columns - 1}. Check its shape and the array indices"
        )


def _first_outside(indices, size):
    """Position of the first index that is not in [0, size), or None."""
    # Negative numbers are large as unsigned integers: one pass instead of two.
    if indices.size == 0 or indices.view(indices.dtype.str.replace("i", "u")).max() < size:
        return None
    return int(np.flatnonzero((indices < 0) | (indices >= size))[0])


def _size_in_blocks(X, invalid):
    """Numbers of rows and columns of blocks of a BSR matrix."""
    sizes = np.asarray(X.shape)
    if X.data.ndim != 3 or 0 in X.data.shape[1:] or np.any(sizes % X.data.shape[1:]):
        raise ValueError(f"{invalid}: blocks of shape {X.data.shape[1:]} do not divide a matrix of shape {X.shape}")
    return (sizes // X.data.shape[1:]).tolist()


def _check_coordinates(X, invalid):
    if not len(X.row) == len(X.col) == len(X.data):
        raise ValueError(f"{invalid}: its arrays row, col and data differ in length")
    for axis, indices, size in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
        if indices.dtype.kind not in "iu":
            raise ValueError(f"{invalid}: {axis} indices must be integers, got {indices.dtype}")
        place = _first_outside(indices, size)
        if place is not None:
            raise ValueError(
                f"{invalid}: entry {place} has the {axis} index {indices[place]}, but {axis} indices go from 0 to "
                f"{size - 1}"
            )


def _check_lists(X, invalid):
    """Check a list of lists: its conversion to CSR copies the indices as they are."""
    for number, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values) or any(not 0 <= column < X.shape[1] for column in columns):
            raise ValueError(
                f"{invalid}: row {number} must have as many column indices as values, from 0 to {X.shape[1] - 1}"
            )


def _check_diagonals(X, invalid):
    offsets = X.offsets
    if X.data.ndim != 2 or offsets.shape != X.data.shape[:1] or offsets.dtype.kind not in "iu":
        raise ValueError(f"{invalid}: it must have as many integer offsets as diagonals")
    # Diagonals outside the matrix count for nothing; SciPy adds row numbers to offsets in 32 bits.
    if len(np.unique(offsets)) != len(offsets) or np.any(np.abs(offsets.astype(np.float64)) > MAX_SIZE // 2):
        raise ValueError(f"{invalid}: its offsets must be distinct and between -{MAX_SIZE // 2} and {MAX_SIZE // 2}")


def check_finite(X, name="X"):
    """Raise ValueError, which names the place, if an array or CSR matrix holds NaN or infinity."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype.kind != "f":
        return
    # The sum is finite unless an entry is not, or (rarely) it overflows: one pass without a temporary array.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values.sum(dtype=np.float64))
    if not finite and not np.all(np.isfinite(values)):
        row, column, value = place_not_finite(X)
        raise ValueError(_refusal(name, "NaN" if np.isnan(value) else "infinity", column, row))


def first_not_finite(X, feature_names):
    """Return an error message that names the first entry of X that is NaN or infinity."""
    row, column, value = place_not_finite(X)
    name = column if feature_names is None else repr(str(feature_names[column]))
    what = "NaN" if np.isnan(value) else "infinity"
    return _refusal("Input X", what, name, row)


def _refusal(where, what, column, row):
    return (
        f"{where} contains {what}: column {column} holds {what}, first in row {row}. Remove such rows or fill "
        "them in, for example with sklearn.impute.SimpleImputer"
    )


def place_not_finite(X):
    """Return row, column and value of the first entry of an array or CSR matrix that is NaN or infinity."""
    if sparse.issparse(X):
        place = np.flatnonzero(~np.isfinite(X.data))[0]
        row = np.searchsorted(X.indptr, place, side="right") - 1
        return int(row), int(X.indices[place]), X.data[place]
    row, column = np.argwhere(~np.isfinite(X))[0]
    return int(row), int(column), X[row, column]
