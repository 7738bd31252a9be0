"""Rows that are not numeric, for kernels that are Python functions: text, graphs, rows of a table with text.

Solvers and models need arrays of two dimensions, whatever these hold. So a list of objects becomes an array of one
column with a type of its own, `ITEM`; the kernel function is given the objects themselves, in an array of one
dimension.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_feature_names

ITEM = np.dtype([("item", object)])


def objects_of(model, X, *, reset):
    """Return X as an array of objects, or None for rows of numbers.

    Parameters
    ----------
    model : estimator
        Its kernel decides whether there may be objects, and when fitted its support vectors whether there are.
    X : sequence of objects, or array-like of shape (n_samples, n_features) with text or objects in it
    reset : bool
        Whether X are training rows; they set ``n_features_in_`` and, if a table, ``feature_names_in_``.

    Returns
    -------
    ndarray of shape (n_samples, 1) and type `ITEM`, or of shape (n_samples, n_features) and objects; or None

    Raises
    ------
    ValueError
        If X is empty, or has not the columns of fit, in their order.
    """
    if reset:
        if not calls_python(model.kernel) or _are_numbers(X):
            return None
        rows = X if _has_items(X) else _items(X) if np.ndim(_array(X)) != 2 else _array(X).astype(object)
        model.n_features_in_ = rows.shape[1]
    else:
        fitted = model.support_vectors_.dtype
        if not fitted.hasobject:
            return None
        if fitted == ITEM:
            rows = X if _has_items(X) else _items(X)
        else:
            rows = _array(X).astype(object)
        if rows.ndim != 2 or rows.shape[1] != model.n_features_in_:
            raise ValueError(f"X must have {model.n_features_in_} columns as in fit, got shape {rows.shape}")
    _check_feature_names(model, X, reset=reset)
    if len(rows) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: X is empty")
    return rows


def calls_python(kernel):
    """Return whether a kernel is a Python function or has one as a component.

    Kernel objects can be called, too, and have an attribute for it; anything else that can be called is a function.
    """
    return getattr(kernel, "calls_python", callable(kernel))


def function_rows(X):
    """Return rows as a kernel function is given them."""
    return X["item"][:, 0] if _has_items(X) else X


def _has_items(X):
    """Whether X is what `objects_of` has made of a list of objects, or some rows of it."""
    return getattr(X, "dtype", None) == ITEM


def _are_numbers(X):
    """Whether the usual validation takes X, or rejects it: numbers, or text that can be converted to them."""
    if sparse.issparse(X) or np.isscalar(X) or X is None:
        return True
    if _has_items(X):
        return False
    array = _array(X)
    if array.dtype.kind not in "OUST":
        return True
    if array.ndim == 1 and array.dtype.kind == "O":
        return any(np.isscalar(item) and not isinstance(item, str | bytes) for item in array)
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return array.ndim == 2


def _array(X):
    if not (isinstance(X, list | tuple) and any(map(_only_looks_like_a_sequence, X))):
        try:
            return np.asarray(X)
        except ValueError:  # sequences of different lengths
            pass
    return _items(X)[:, 0]["item"]


def _only_looks_like_a_sequence(row):
    """Whether NumPy would take the items of an object for numbers in a row, such as the nodes of a graph."""
    has_items = hasattr(row, "__len__") and hasattr(row, "__getitem__")
    return has_items and not (isinstance(row, Sequence) or hasattr(row, "__array__"))


def _items(X):
    items = np.empty((len(X), 1), dtype=ITEM)
    for position, item in enumerate(X):
        items[position, 0] = (item,)
    return items
