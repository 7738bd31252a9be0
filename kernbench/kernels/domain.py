"""Checks that rows are inside a kernel's domain and small enough for the precision."""

import numpy as np

from kernbench.kernels.constants import LIMITS, check_constants
from kernbench.kernels.functions import CentredLinear, Kernel, Linear, Precomputed
from kernbench.validation.arrays import first_not_finite

COMPARED_ROWS = 64  # a tenth of the time of a fit, or less


def is_precomputed(kernel):
    """Whether X is the kernel matrix itself."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def asymmetry(matrix):
    """Return by how much a square matrix and its transpose differ, and the largest magnitude of an entry.

    With more than `COMPARED_ROWS` rows only the entries between this many, evenly spread, are compared: to compare all
    entries would take as long as a fit.
    """
    n = matrix.shape[0]
    rows = compared_rows(n) if n > COMPARED_ROWS else None
    values = matrix if rows is None else matrix[np.ix_(rows, rows)]
    return float(np.abs(values - values.T).max()), float(np.abs(values).max())


def compared_rows(n):
    """Return the indices of up to `COMPARED_ROWS` of n rows, evenly spread."""
    return np.linspace(0, n - 1, min(n, COMPARED_ROWS)).astype(np.intp)


def takes_no_negative(kernel):
    """Whether a kernel, given as an object or by name, or a component of it, takes no negative entries."""
    if isinstance(kernel, str):
        return kernel in ("chi2", "additive_chi2")
    return isinstance(kernel, Kernel) and (kernel.lower == 0 or any(map(takes_no_negative, kernel.components)))


def largest_entry(X):
    """Return the largest magnitude of an entry of X, which is not empty."""
    return float(max(X.max(), -X.min()))


def check_range(X, kernel, dtype, *, wider="use dtype='float64'", feature_names=None, largest=None):
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
    largest : float, optional
        The `largest_entry` of X, if it is known.

    Raises
    ------
    ValueError
        If an entry is outside the domain or not finite (the message names its column), or the largest value of the
        kernel or of a component, or the largest squared norm it is computed from, or a parameter of the kernel, does
        not fit.
    """
    if kernel.routine == "precomputed" or X.shape[0] == 0:
        return
    if kernel.restricts_domain:
        kernel.check_domain(X, feature_names)
    if kernel.calls_python:
        return  # its growth is unknown
    check_constants(kernel, dtype, wider=wider)
    largest = largest_entry(X) if largest is None else largest
    if not np.isfinite(largest):  # rows that nobody has checked, with `assume_finite` of scikit-learn
        raise ValueError(first_not_finite(X, feature_names))
    _check_values(X, kernel, dtype, wider, largest)


def _check_values(X, kernel, dtype, wider, largest):
    """Raise ValueError if a value of the kernel overflows, or one of a component: infinity times 0 would be NaN."""
    for component in kernel.components:
        _check_values(X, component, dtype, wider, largest)
    limit = LIMITS[np.dtype(dtype)]
    bound = largest * largest * X.shape[1]  # of floats: an overflow is infinity, without a warning
    if (kernel.translation_invariant or type(kernel) is Linear) and bound < limit:
        return  # its diagonal is constant, or has this bound
    with np.errstate(over="ignore"):
        if isinstance(kernel, CentredLinear):  # which has a number for each column, and so no row of one entry
            bound = np.inf
        else:
            bound = max(bound, kernel.diagonal(np.sqrt([[bound]]))[0])  # the diagonal does not decrease along a ray
        if not bound < limit:  # the bound is rough, or missing: check the rows themselves
            bound = max(Linear().diagonal(X).max(), kernel.diagonal(X).max())
    if bound < limit:
        return
    remedy = "scale the features, for example with sklearn.preprocessing.StandardScaler"
    if hasattr(kernel, "scale"):
        remedy += ", or lower gamma"
    if dtype == "float32":
        remedy += f", or {wider}"
    raise ValueError(f"X holds values up to {largest:.3g}, too large for this kernel in {dtype}: {remedy}")
