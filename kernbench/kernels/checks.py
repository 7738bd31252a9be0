"""Rows as they come from users: checked, converted, and refused with a sentence that says what to do."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from kernbench.kernels.functions import Linear, Precomputed

FLOATS = [np.float64, np.float32]  # kept as they come; everything else becomes float64


def is_precomputed(kernel):
    """Whether X is the kernel matrix itself."""
    return isinstance(kernel, Precomputed) or (isinstance(kernel, str) and kernel == "precomputed")


def check_rows(model, X, y="no_validation", *, reset):
    """Check X (and y) and return X as a C-ordered float array or a canonical CSR matrix.

    Parameters
    ----------
    model : estimator
        Gets (``reset=True``) or knows (``reset=False``) ``n_features_in_`` and ``feature_names_in_``; has a
        parameter ``kernel``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    reset : bool

    Returns
    -------
    X, or (X, y) if y was given

    Raises
    ------
    ValueError
        For NaN and infinity (named by column), text, complex numbers, wrong shapes.
    """
    settings = {
        "dtype": FLOATS,
        "order": "C",
        "accept_sparse": False if is_precomputed(model.kernel) else "csr",
    }
    try:
        checked = validate_data(model, X, y, reset=reset, **settings)
    except ValueError as error:
        if "could not convert string" in str(error):
            advice = "Encode it as numbers first, for example with sklearn.preprocessing.OneHotEncoder"
            raise ValueError(f"X holds text: {error}. {advice}") from error
        if str(error).startswith(("Input X contains NaN", "Input X contains infinity")):
            values = check_array(X, ensure_all_finite=False, **settings)
            raise ValueError(first_not_finite(values, getattr(model, "feature_names_in_", None))) from None
        raise
    rows, *labels = checked if isinstance(checked, tuple) else (checked,)
    if sparse.issparse(rows) and not rows.has_canonical_format:
        rows = rows.copy()  # the caller's matrix stays as it is
        rows.sum_duplicates()
    return (rows, *labels) if labels else rows


def first_not_finite(X, feature_names):
    """Say which column of X holds NaN or infinity first."""
    if sparse.issparse(X):
        first = np.flatnonzero(~np.isfinite(X.data))[0]
        row, column, value = (
            np.searchsorted(X.indptr, first, side="right") - 1,
            X.indices[first],
            X.data[first],
        )
    else:
        row, column = np.argwhere(~np.isfinite(X))[0]
        value = X[row, column]
    name = column if feature_names is None else repr(str(feature_names[column]))
    what = "NaN" if np.isnan(value) else "infinity"
    return (
        f"Input X contains {what}: column {name} holds {what}, first in row {row}. Remove such rows or fill "
        "them in, for example with sklearn.impute.SimpleImputer"
    )


def check_range(X, kernel, dtype, *, wider="use dtype='float64'", feature_names=None):
    """Refuse rows outside the kernel's domain, and rows whose kernel values overflow: they make a model of NaN.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    kernel : Kernel
    dtype : {"float32", "float64"}
    wider : str
        What else helps where float32 is too narrow.
    feature_names : sequence of str, optional
        For the message about the domain.

    Raises
    ------
    ValueError
        If an entry is outside the domain (the message names its column), or the largest kernel value, or the
        largest squared norm it is computed from, does not fit.
    """
    if kernel.form == "precomputed" or X.shape[0] == 0:
        return
    kernel.check_domain(X, feature_names)
    if kernel.calls_python:
        return  # nothing is known of its growth
    limit = np.finfo(dtype).max / 4
    largest = np.float64(max(abs(X.max()), abs(X.min())))
    with np.errstate(over="ignore"):
        bound = largest**2 * X.shape[1]
        bound = max(bound, kernel.diag(np.sqrt([[bound]]))[0])  # kernels grow along a ray, if at all
        if not bound < limit:  # it is a rough bound: look at the rows themselves
            bound = max(Linear().diag(X).max(), kernel.diag(X).max())
    if bound < limit:
        return
    remedy = "scale the features, for example with sklearn.preprocessing.StandardScaler"
    if dtype == "float32":
        remedy += f", or {wider}"
    raise ValueError(f"X holds values up to {largest:.3g}, too large for this kernel in {dtype}: {remedy}")
