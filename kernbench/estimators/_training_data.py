"""Labels, weights and the kernel of a fit: checked, or refused with a sentence that says what to do."""

import numpy as np
from scipy import sparse
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from kernbench.kernels.bandwidth import is_spread
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.engine.prepared import prepare, storage_of
from kernbench.kernels.functions import Linear
from kernbench.kernels.names import resolve_kernel
from kernbench.validation.rows import check_rows

NORM_ROWS = 2000  # rows that tell how long they are
WRONG = 0.01  # error of a kernel value that is too much, relative


def check_training_data(model, X, y, sample_weight):
    """Check what ``fit`` was given; set ``classes_`` and ``class_weight_`` on the model.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), intp
        Index of each label in ``classes_``.
    sample_weight : ndarray of shape (n_samples,), or None
    weights : ndarray of shape (n_samples,), or None
        `sample_weight` times the weight of the class; None if all are 1.
    """
    X, y, classes, codes, sample_weight = check_examples(model, X, y, sample_weight)
    check_square(model, X)
    model.classes_ = classes
    model.class_weight_ = _class_weights(model.class_weight, classes, y, codes, sample_weight)
    weights = None
    if sample_weight is not None or np.any(model.class_weight_ != 1):
        weights = model.class_weight_[codes] * (1.0 if sample_weight is None else sample_weight)
        check_each_class_has_weight(classes, codes, weights)
    return X, codes, sample_weight, weights


def check_examples(model, X, y, sample_weight, *, reset=True):
    """Check what ``fit`` of any classifier was given; without `reset`, rows like those of the last ``fit``.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
        Its labels, sorted; at least two.
    codes : ndarray of shape (n_samples,), intp
        Index of each label in `classes`.
    sample_weight : ndarray of shape (n_samples,), or None
    """
    X, y = check_rows(model, X, y, reset=reset, accept_sparse=not is_precomputed(getattr(model, "kernel", None)))
    classes, codes = np.unique(y, return_inverse=True)
    if not _are_labels(y, classes):
        check_classification_targets(y)
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, X)
    return X, y, classes, codes, sample_weight


def _are_labels(y, classes):
    """Whether y, a vector of finite entries, is sure to be labels: whole numbers, most of them more than once.

    Only then is `check_classification_targets`, which takes as long as a small fit, not asked.
    """
    if 2 * len(classes) > len(y):
        return False
    return y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool(np.all(classes == np.trunc(classes))))


def check_square(model, X):
    """Refuse a precomputed training kernel that is no square matrix."""
    if is_precomputed(getattr(model, "kernel", None)) and X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed training kernel must be a square matrix, got shape {X.shape}")


def check_weights(sample_weight, X):
    """Return the sample weights of the rows of X in float64; all at least 0."""
    sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(sample_weight < 0):
        raise ValueError(f"sample_weight must be at least 0, got {sample_weight.min():g}")
    return sample_weight


def _class_weights(class_weight, classes, y, codes, sample_weight):
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # "balanced": as if an example of weight k stood there k times
        mass = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        if np.any(mass == 0):
            return np.ones(len(classes))  # refused in a moment, by name
        return mass.sum() / (len(classes) * mass)
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)


def check_each_class_has_weight(classes, codes, weights):
    """Refuse a class whose examples all have weight 0."""
    empty = np.bincount(codes, weights=weights, minlength=len(classes)) == 0
    if empty.any():
        name = repr(str(classes[empty][0]))
        remedy = "leave the class out of y, or give it a positive weight"
        raise ValueError(f"every example of class {name} has weight 0: {remedy}")


def kernel_of(model, X, sample_weight, seed):
    """Return the kernel object that the model's parameters mean for training rows X.

    A row of weight k counts k times, and one of weight 0 not at all, so that weighting and repeating rows
    give one and the same model.

    Raises
    ------
    ValueError
        If X is too large for the kernel, or a Python function is no kernel.
    """
    gamma = model.gamma
    if isinstance(model.kernel, str) and model.kernel != "precomputed" and isinstance(gamma, str):
        check_range(X, Linear(), model.dtype_)  # first: the variance of "scale" may overflow too
        if sample_weight is not None:
            if gamma == "scale":
                gamma = _weighted_scale(X, sample_weight)
            elif np.any(sample_weight == 0):
                X = X[sample_weight > 0]
    kernel = resolve_kernel(
        model.kernel, X, gamma=gamma, degree=model.degree, coef0=model.coef0, random_state=seed
    )
    check_range(X, kernel, model.dtype_, feature_names=getattr(model, "feature_names_in_", None))
    if kernel.routine == "callable":
        _check_function(kernel.function, X)
    return kernel


def wide_enough(dtype, kernel, X):
    """Return the precision for kernel values on X where it is for us to choose: `dtype`, or float64.

    Squared distances are taken from inner products of centred rows, with an error of some roundings of the
    squared norms. In the exponent of a very narrow Gaussian kernel that may be more than a hundredth: then
    even k(x, x) = 1 comes out wrong. Asked of at most 2,000 rows.
    """
    if dtype == "float64" or kernel.routine != "gaussian":
        return dtype
    rows = X[:: -(-X.shape[0] // NORM_ROWS)]
    exponents = 2.0 * prepare(kernel, rows, np.float64).terms.max()
    return "float64" if np.finfo(np.float32).eps * exponents > WRONG else dtype


def narrow_will_do(kernel, X):
    """Whether float32 kernel values on X are close to the float64 ones: computed by us, in range, not too narrow."""
    if kernel.calls_python or kernel.routine == "precomputed":
        return False
    try:
        check_range(X, kernel, "float32")
    except ValueError:
        return False
    return wide_enough("float32", kernel, X) == "float32"


def entries_per_row(kernel, X):
    """Return how many entries a kernel value on rows of X is computed from, on average."""
    if storage_of(kernel, X) != "csr":
        return X.shape[1]
    return (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) / X.shape[0]


def without_empty_columns(X, kernel):
    """Return the rows of X on the columns that any of them uses, if these are few: kernel values stay.

    The sparse engine spreads rows out over all columns, a million of them if need be.
    """
    if not sparse.issparse(X) or not kernel.keeps_zeros or kernel.calls_python or X.nnz > X.shape[1] // 2:
        return X
    used, columns = np.unique(X.indices, return_inverse=True)
    return sparse.csr_matrix((X.data, columns, X.indptr), shape=(X.shape[0], max(1, len(used))))


def _check_function(function, X):
    """Try a kernel function on a few rows."""
    few, more = X[:2], X[:3]
    shape = np.shape(function(few, more))
    if shape != (few.shape[0], more.shape[0]):
        raise ValueError(
            "a kernel function must return the matrix of k(x, z) for all rows of its two arguments: expected "
            f"shape {(few.shape[0], more.shape[0])}, got {shape}"
        )


def _weighted_scale(X, weights):
    """Return 1 / (d · variance of X), entries of row i counting weights[i] times."""
    n_entries = weights.sum() * X.shape[1]
    if sparse.issparse(X):
        wide = X.astype(np.float64)
        mean = (weights @ wide).sum() / n_entries
        variance = (weights @ wide.power(2)).sum() / n_entries - mean**2
    else:
        mean = (weights @ X).sum() / n_entries
        variance = (weights @ np.square(X - mean)).sum() / n_entries
    return 1.0 / (X.shape[1] * variance) if is_spread(variance, mean) else 1.0
