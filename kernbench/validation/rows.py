"""Rows as they come from users: checked, converted, and refused with a sentence that says what to do."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

FLOATS = [np.float64, np.float32]  # kept as they come; everything else becomes float64


def check_rows(model, X, y="no_validation", *, reset, accept_sparse=True):
    """Check X (and y) and return X as a C-ordered float array or a canonical CSR matrix.

    Parameters
    ----------
    model : estimator
        Gets (``reset=True``) or knows (``reset=False``) ``n_features_in_`` and ``feature_names_in_``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    reset : bool
    accept_sparse : bool, default=True
        False where X is a kernel matrix.

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
        "accept_sparse": "csr" if accept_sparse else False,
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
