"""Checks that rows are inside a kernel's domain and small enough for the precision."""

import numpy as np

from kernbench.kernels.functions import Linear, Precomputed

LIMITS = {name: float(np.finfo(name).max) / 4 for name in ("float32", "float64")}

ASYMMETRY = 1e-5  # share of the largest entry; kernel matrices computed in float32 differ from their transpose by 1e-6
BLOCK = 256  # rows and columns compared at a time: two blocks of float64 fit the second-level cache


def is_precomputed(kernel):
    """Whether X is the kernel matrix itself."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def check_square(X, kernel):
    """Raise ValueError if `kernel` is precomputed and its training matrix X is not square and symmetric."""
    if not is_precomputed(kernel):
        return
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed training kernel must be a square matrix, got shape {X.shape}")
    difference = _asymmetry(X)
    if difference > 0:
        largest = max(abs(float(X.max())), abs(float(X.min())))
        if difference > ASYMMETRY * largest:
            raise ValueError(
                "a precomputed training kernel must be a symmetric matrix: X and its transpose differ by up to "
                f"{difference:.3g}, its largest entry is {largest:.3g}. If only rounding makes them differ, pass "
                "(X + X.T) / 2; otherwise k(x, z) is not the same as k(z, x), and it is not a kernel"
            )


def _asymmetry(X):
    """Return the largest absolute difference between a dense square matrix and its transpose, block by block."""
    n, largest = len(X), 0.0
    room = np.empty((min(n, BLOCK), min(n, BLOCK)), dtype=X.dtype)
    for top in range(0, n, BLOCK):
        rows = slice(top, min(n, top + BLOCK))
        for left in range(top, n, BLOCK):
            columns = slice(left, min(n, left + BLOCK))
            difference = room[: rows.stop - top, : columns.stop - left]
            np.subtract(X[rows, columns], X[columns, rows].T, out=difference)
            largest = max(largest, float(difference.max()), -float(difference.min()))
    return largest


def check_range(X, kernel, dtype, *, wider="use dtype='float64'", feature_names=None):
    """Raise ValueError for rows outside the kernel's domain, and for rows whose kernel values overflow.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    kernel : Kernel
    dtype : {"float32", "float64"}
    wider : str
        Further advice for the case that float32 overflows.
    feature_names : sequence of str, optional
        For the message about the domain.

    Raises
    ------
    ValueError
        If an entry is outside the domain (the message names its column), or the largest kernel value, or the
        largest squared norm it is computed from, does not fit.
    """
    if kernel.routine == "precomputed" or X.shape[0] == 0:
        return
    kernel.check_domain(X, feature_names)
    if kernel.calls_python:
        return  # its growth is unknown
    limit = LIMITS[str(dtype)]
    largest = float(max(X.max(), -X.min()))
    bound = largest * largest * X.shape[1]  # of floats: an overflow is infinity, without a warning
    if kernel.translation_invariant and bound < limit:
        return  # its diagonal is constant
    with np.errstate(over="ignore"):
        bound = max(
            bound, kernel.diagonal(np.sqrt([[bound]]))[0]
        )  # the diagonal does not decrease along a ray
        if not bound < limit:  # the bound is rough: check the rows themselves
            bound = max(Linear().diagonal(X).max(), kernel.diagonal(X).max())
    if bound < limit:
        return
    remedy = "scale the features, for example with sklearn.preprocessing.StandardScaler"
    if dtype == "float32":
        remedy += f", or {wider}"
    raise ValueError(f"X holds values up to {largest:.3g}, too large for this kernel in {dtype}: {remedy}")
