"""Checks and conversion of the rows that an estimator is given."""

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from kernbench.validation.arrays import check_indices, first_not_finite, without_duplicates, without_room
from kernbench.validation.foreign import host_array, refuse_times
from kernbench.validation.objects import calls_python, objects_of

FLOATS = [np.float64, np.float32]  # kept; everything else becomes float64
NO_LABELS = "no_validation"  # as scikit-learn's `validate_data` has it; any other text is a mistake for labels


def check_rows(model, X, y=NO_LABELS, *, reset, accept_sparse=True):
    """Check X (and y) and return X as a C-ordered float array or a canonical CSR matrix.

    Parameters
    ----------
    model : estimator
        Its ``n_features_in_`` and ``feature_names_in_`` are set (``reset=True``) or checked (``reset=False``).
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
        For NaN and infinity (named by column), masked entries, text, dates and times, complex numbers, wrong shapes,
        and sparse matrices whose indices are out of bounds.

    Notes
    -----
    Arrays of other libraries are taken through DLPack, see `kernbench.validation.foreign`.

    Models with ``_takes_objects`` and a kernel that is a Python function take rows that are not numeric, see
    `kernbench.validation.objects`.
    """
    if hasattr(X, "__dask_graph__"):
        raise ValueError(
            f"X is a Dask collection: kernbench.distributed.Distributed({type(model).__name__}(...), client) works on "
            "its partitions, and X.compute() makes an array of it"
        )
    if _is_plain(model, X, y, reset):
        if reset:
            model.n_features_in_ = X.shape[1]
        return X if _is_without_labels(y) else (X, y)
    X = host_array(X, "X")
    if not (y is None or _is_without_labels(y)):
        y = host_array(y, "y")
    if getattr(model, "_takes_objects", False) and (objects := objects_of(model, X, reset=reset)) is not None:
        return objects if _is_without_labels(y) else (objects, _labels_of(objects, y))
    refuse_times(X)
    check_indices(X)  # first: conversions would read past the end of the arrays
    if sparse.issparse(X):
        X = without_room(X)
    settings = {"dtype": FLOATS, "order": "C", "accept_sparse": "csr" if accept_sparse else False}
    try:
        checked = validate_data(model, X, y, reset=reset, **settings)
    except ValueError as error:
        if "could not convert string" in str(error):
            advice = "Encode it as numbers first, for example with sklearn.preprocessing.OneHotEncoder"
            if calls_python(getattr(model, "kernel", None)):  # of a model that takes numbers only
                advice = "A kernel function is given rows of numbers: for others pass its matrix, kernel='precomputed'"
            raise ValueError(f"X holds text: {error}. {advice}") from error
        if str(error).startswith(("Input X contains NaN", "Input X contains infinity")):
            values = check_array(X, ensure_all_finite=False, **settings)
            raise ValueError(first_not_finite(values, getattr(model, "feature_names_in_", None))) from None
        if str(error) == "Input contains NaN":  # in y, where it holds objects: other messages name X or y
            raise ValueError("y holds missing values: leave out the rows without a label") from error
        if "features, but" in str(error) and hasattr(model, "support_only") and not accept_sparse:
            columns = "the columns of K(X, train) are all training rows, in a model from support_only() support vectors"
            raise ValueError(f"{str(error).rstrip('.')}; {columns}") from None
        raise
    except TypeError as error:
        if "NA is ambiguous" in str(error):  # of the labels: entries of X are converted to numbers before
            raise ValueError("y holds missing values (pandas.NA): leave out the rows without a label") from error
        if "'NAType'" in str(error):  # among other objects; columns of numbers with them become NaN
            raise ValueError("X holds missing values (pandas.NA): leave out such rows or fill them in") from error
        raise
    rows, *labels = checked if isinstance(checked, tuple) else (checked,)
    if sparse.issparse(rows):
        rows = without_duplicates(rows)
    return (rows, *labels) if labels else rows


def check_same_columns(what, names, owner, known):
    """Raise ValueError if the columns of a table have other names, or another order, than those of another one.

    Parameters
    ----------
    what, owner : str
        The two tables.
    names, known : sequence of str, or None
        The names of their columns; None for rows that are no table.
    """
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            f"{what} has the columns {list(names)}, which should be those of {owner}, in their order: {list(known)}. "
            "Select them by their names"
        )


def _is_without_labels(y):
    return isinstance(y, str) and y == NO_LABELS


def _labels_of(rows, y):
    check_consistent_length(rows, y)
    return check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=None, input_name="y")


def _is_plain(model, X, y, reset):
    """Whether `validate_data` would return X and y unchanged: arrays of finite numbers in the right order.

    `validate_data` takes longer than a fit of a hundred rows.
    """
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.flags.c_contiguous
        and X.size > 0
        and not hasattr(model, "feature_names_in_")
        and (reset or X.shape[1] == getattr(model, "n_features_in_", None))
        and (_is_without_labels(y) or _is_plain_vector(y, len(X)))
        and _has_finite_sum(X)
    )


def _is_plain_vector(y, length):
    return (
        type(y) is np.ndarray
        and y.shape == (length,)
        and (y.dtype.kind in "biu" or (y.dtype.kind == "f" and _has_finite_sum(y)))
    )


def _has_finite_sum(values):
    """Whether the sum is finite: then so are all entries."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()))
