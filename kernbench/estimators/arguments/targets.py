"""Targets of regression: checked numbers."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from kernbench.validation.foreign import host_array
from kernbench.validation.rows import check_rows

LARGEST, LEAST = 1e140, 1e-140  # of the largest target; squares are added up, and these have twice the exponent


def check_targets(model, X, y, *, reset, accept_sparse=True, several=False):
    """Return checked rows, and targets as a vector of finite float64; with `several`, more columns than one stay."""
    y = host_array(y, "y")
    shape = np.shape(y) if isinstance(y, list | tuple) else getattr(y, "shape", ())
    if several and len(shape) == 2 and shape[1] > 0:
        X, _ = check_rows(model, X, np.zeros(shape[0]), reset=reset, accept_sparse=accept_sparse)
        y = targets_of_chunk(y)
        return X, y if shape[1] > 1 else y[:, 0]
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} instead: for several outputs wrap the model, "
            f"sklearn.multioutput.MultiOutputRegressor({type(model).__name__}(...))"
        )
    X, y = check_rows(model, X, y, reset=reset, accept_sparse=accept_sparse)
    if not (type(y) is np.ndarray and y.ndim == 1):  # of an array the check takes as long as a fit of a hundred rows
        y = column_or_1d(y, warn=True)
    return X, targets_of_chunk(y)


def require_squares(y):
    """Raise ValueError for an output whose targets are not all 0, but so small that their squares are rounded to 0."""
    for target in y.T if y.ndim == 2 else [y]:
        largest = np.abs(target).max(initial=0.0)
        if 0.0 < largest < LEAST:
            raise ValueError(
                f"y holds values up to {largest:.2g} only, too small to add up squares in float64: scale the targets, "
                "for example with sklearn.compose.TransformedTargetRegressor(transformer=StandardScaler())"
            )


def targets_of_chunk(y):
    """Return targets in float64; raise ValueError for text, times and complex numbers, and for NaN and infinity."""
    try:
        if sparse.issparse(y):  # of which NumPy would make one object
            raise TypeError("got a sparse matrix, pass y.toarray()")
        y = np.asarray(y)
        if y.dtype.kind == "c":  # NumPy would drop the imaginary parts
            raise TypeError("got complex ones")
        if y.dtype.kind in "mM":  # NumPy would count them in their unit, and missing ones as -2**63
            raise TypeError("got times, pass numbers in a unit of your choice")
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers, the targets of a regression: {error}") from error
    if not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinity: leave out rows without a target")
    largest = np.abs(y).max(initial=0.0)
    if largest > LARGEST:
        raise ValueError(
            f"y holds values up to {largest:.2g}, too large to add up squares in float64: scale the targets, for "
            "example with sklearn.compose.TransformedTargetRegressor"
        )
    return y
