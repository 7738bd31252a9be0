"""Checks of the rows, labels and weights given to an estimator, with messages that say what to change."""

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from kernbench.kernels.domain import asymmetry, is_precomputed
from kernbench.validation.foreign import host_array
from kernbench.validation.rows import check_rows

ASYMMETRY = 1e-5  # share of the largest entry; kernel matrices computed in float32 differ from their transpose by 1e-6


def check_training_data(model, X, y, sample_weight, *, kernel=None, all_classes=False):
    """Check the arguments of ``fit``; set ``classes_`` and ``class_weight_`` on the model.

    A class whose examples all have sample weight 0 is left out, as they are, provided that two others remain: bootstrap
    samples, which are given as weights, may lack a class.

    Parameters
    ----------
    model : estimator
        Has the parameter ``class_weight``.
    X, y, sample_weight
        As given to ``fit``.
    kernel : str, Kernel or callable, optional
        The model's, if it has one; a precomputed X is a dense square matrix.
    all_classes : bool, default=False
        Whether to raise ValueError for such a class.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), intp
        Index of each label in ``classes_``; of examples of a class that is left out, that of another one.
    sample_weight : ndarray of shape (n_samples,), or None
    weights : ndarray of shape (n_samples,), or None
        `sample_weight` times the weight of the class; None if all are 1.
    """
    X, y, classes, codes, sample_weight = check_examples(model, X, y, sample_weight, kernel=kernel)
    codes, weights = weigh_classes(model, classes, y, codes, sample_weight, all_classes=all_classes)
    check_square(X, kernel)
    return X, codes, sample_weight, weights


def check_two_classes(model, X, y, sample_weight, *, kernel=None):
    """Check the arguments of ``fit`` of a classifier of two classes; set ``classes_`` on the model.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    signs : ndarray of shape (n_samples,), float64
        +1 for the larger label, -1 for the other.
    sample_weight : ndarray of shape (n_samples,), or None
    """
    X, _, classes, codes, sample_weight = check_examples(model, X, y, sample_weight, kernel=kernel)
    classes, codes, _ = without_empty_classes(classes, codes, sample_weight)
    if len(classes) > 2:
        name = type(model).__name__
        raise ValueError(
            f"Only binary classification is supported: {name} takes two classes, and y has {len(classes)}. Use "
            f"sklearn.multiclass.OneVsRestClassifier({name}()): one model per class"
        )
    model.classes_ = classes
    if sample_weight is not None:
        check_each_class_has_weight(classes, codes, sample_weight)
    check_square(X, kernel)
    return X, np.where(codes == 1, 1.0, -1.0), sample_weight


def weigh_classes(model, classes, y, codes, sample_weight, *, all_classes=False):
    """Set ``classes_`` and ``class_weight_``, for checked labels y with the index `codes` in `classes`.

    Parameters
    ----------
    model, sample_weight, all_classes
        As for `check_training_data`.

    Returns
    -------
    codes : ndarray of shape (n_samples,), intp
    weights : ndarray of shape (n_samples,), or None
        As of `check_training_data`.
    """
    factors = _class_weights(model.class_weight, classes, y, codes, sample_weight)
    if not all_classes:
        classes, codes, kept = without_empty_classes(classes, codes, sample_weight)
        factors = factors[kept]
    model.classes_, model.class_weight_ = classes, factors
    if sample_weight is None and (model.class_weight is None or not np.any(factors != 1)):
        return codes, None
    weights = factors[codes] * (1.0 if sample_weight is None else sample_weight)
    check_each_class_has_weight(classes, codes, weights)
    return codes, weights


def check_examples(model, X, y, sample_weight, *, kernel=None, reset=True):
    """Check training examples of any classifier.

    Parameters
    ----------
    model : estimator
    X, y, sample_weight
        As given to ``fit``.
    kernel : str, Kernel or callable, optional
        As for `check_training_data`.
    reset : bool, default=True
        False for rows like those of the last ``fit``.

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
    X, y = check_rows(model, X, y, reset=reset, accept_sparse=not is_precomputed(kernel))
    classes, codes = check_labels(y)
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, X)
    return X, y, classes, codes, sample_weight


def check_labels(y):
    """Return the labels of training examples, sorted, at least two, and the index of each example's label."""
    classes, codes = _whole_labels(y) or distinct_labels(y, return_inverse=True)
    if not _are_labels(y, classes):
        check_classification_targets(y)
        if classes.dtype.kind in "mM" and np.isnat(classes).any():
            raise ValueError("y holds missing values (NaT): leave out the rows without a label")
    if len(classes) < 2:
        raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
    return classes, codes


def _whole_labels(y):
    """Return what `distinct_labels` does with the inverse, in a quarter of its time; None unless y holds integers of a
    small range."""
    if not isinstance(y, np.ndarray) or y.ndim != 1 or y.dtype.kind != "i" or len(y) == 0:
        return None
    least, largest = int(y.min()), int(y.max())
    if largest - least > len(y):
        return None
    offsets = np.subtract(y, least, dtype=np.intp)
    is_used = np.bincount(offsets) > 0
    if is_used.all():
        return np.arange(least, largest + 1, dtype=y.dtype), offsets
    return (np.flatnonzero(is_used) + least).astype(y.dtype), (np.cumsum(is_used) - 1)[offsets]


def distinct_labels(y, **options):
    """Return ``np.unique(y, **options)``, of a set that of its members; raise ValueError for labels that cannot be
    sorted, such as None and text."""
    y = list(y) if isinstance(y, set | frozenset) else y
    try:
        return np.unique(y, **options)
    except TypeError:
        kinds = ", ".join(sorted({type(label).__name__ for label in np.ravel(y)}))
        raise ValueError(
            f"the labels in y cannot be sorted, since they are of type {kinds}: use labels of one type, numbers or "
            "text, and leave out rows without a label"
        ) from None


def check_square(X, kernel):
    """Raise ValueError if `kernel` is precomputed and its training matrix X is not square and symmetric, as far as the
    entries that `asymmetry` compares show."""
    if not is_precomputed(kernel):
        return
    if X.shape[0] != X.shape[1]:
        raise ValueError(f"a precomputed training kernel must be a square matrix, got shape {X.shape}")
    difference, largest = asymmetry(X)
    if difference > ASYMMETRY * largest:
        raise ValueError(
            "a precomputed training kernel must be a symmetric matrix: X and its transpose differ by up to "
            f"{difference:.3g}, the largest entry there is {largest:.3g}. If only rounding makes them differ, pass "
            "(X + X.T) / 2; otherwise k(x, z) is not the same as k(z, x), and it is not a kernel"
        )


def check_batch(model, X, y, classes, sample_weight, *, reset, labels_of=None):
    """Check a batch of ``partial_fit`` of a classifier.

    Parameters
    ----------
    model : estimator
        Has ``classes_`` unless `reset`.
    X, y, sample_weight
        As given to ``partial_fit``; a batch may lack a class.
    classes : array-like of shape (n_classes,), or None
    reset : bool
        Whether it is the first batch.
    labels_of : callable, optional
        Returns the sorted labels of `classes`, or of y, such as `labels_of_stream`; `two_labels` by default.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    labels : ndarray of shape (n_classes,)
    weights : ndarray of shape (n_samples,)
    """
    X, y = check_rows(model, X, y, reset=reset)
    y = column_or_1d(y, warn=True)
    distinct_labels(y)
    check_classification_targets(y)
    weights = np.ones(X.shape[0]) if sample_weight is None else check_weights(sample_weight, X)
    if reset:
        labels = (labels_of or two_labels)(y if classes is None else classes)
    else:
        labels = model.classes_
        if classes is not None and not np.array_equal(distinct_labels(classes), labels):
            raise ValueError(f"classes={classes!r} are not those of the calls before, {labels.tolist()}")
    unknown = labels_outside(labels, y)
    if len(unknown):
        raise ValueError(f"y holds {unknown[:3].tolist()}, which are not among the classes {labels.tolist()}")
    return X, y, labels, weights


def labels_outside(labels, y):
    """Return the distinct labels in y that are not among `labels`; text and numbers, which NumPy would compare as text,
    are never equal."""
    kinds = [array.dtype.kind for array in (labels, y)]
    if "O" not in kinds and (kinds[0] in "SUT") != (kinds[1] in "SUT"):
        return distinct_labels(y)
    return np.setdiff1d(distinct_labels(y), labels)


def weights_of_stream(class_weight, labels):
    """Return the class weights for the classes `labels` of a stream, whose numbers of examples are unknown."""
    if isinstance(class_weight, str):
        raise ValueError("class_weight='balanced' needs all labels, which are unknown in a stream: pass a dict")
    weights = _class_weights(class_weight, labels, labels, None, None)
    check_each_class_has_weight(labels, np.arange(len(labels)), weights)
    return weights


def labels_of_stream(y):
    """Return the labels of a stream, sorted; raise ValueError for NaN and NaT, which are no labels."""
    labels = distinct_labels(y)
    if labels.dtype.kind in "fmM" and np.isnan(labels).any():
        what = "NaN" if labels.dtype.kind == "f" else "NaT"
        raise ValueError(f"the classes hold {what}: leave it out, and rows without a label")
    return labels


def two_labels(y):
    """Return the two labels of a stream, sorted."""
    labels = labels_of_stream(y)
    names = labels.tolist()
    if len(names) < 2:
        raise ValueError(
            f"a stream needs exactly two classes, got {names}: pass classes=[negative, positive] if the first examples "
            "are of one class only"
        )
    if len(names) > 2:
        raise ValueError(
            f"a stream needs exactly two classes, got {names[:5]}{' and more' * (len(names) > 5)}: use one model for "
            "each class against the rest (sklearn.multiclass.OneVsRestClassifier has a partial_fit, too)"
        )
    return labels


def check_weights(sample_weight, X):
    """Return the sample weights of the rows of X in float64; all at least 0, and one above."""
    sample_weight = host_array(sample_weight, "sample_weight")
    dtype = np.asarray(sample_weight).dtype
    if dtype.kind in "cmM":  # NumPy would drop imaginary parts, and count times in a unit of its own
        raise ValueError(f"sample_weight must hold real numbers, got {dtype}")
    try:
        sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) or "convert string" in str(error):
            raise ValueError(f"sample_weight must be numbers, one for each row: {error}") from error
        raise
    if np.any(sample_weight < 0):
        raise ValueError(f"sample_weight must be at least 0, got {sample_weight.min():g}")
    if not np.any(sample_weight):  # scikit-learn refuses it from 1.8 on
        raise ValueError("sample_weight must contain at least one non-zero number")
    with np.errstate(over="ignore"):
        total = sample_weight.sum()
    if not np.isfinite(total):
        raise ValueError("the sum of sample_weight is infinite in float64: divide the weights by their maximum")
    return sample_weight


def without_empty_classes(classes, codes, sample_weight):
    """Leave out classes whose examples all have sample weight 0, if two others remain.

    Returns
    -------
    classes : ndarray of shape (n_kept,)
    codes : ndarray of shape (n_samples,), intp
        Index of each label in `classes`; of examples of a class that is left out, that of another one.
    kept : slice, or ndarray of bool of shape (n_classes,)
        Which of the given classes these are.
    """
    if sample_weight is None:
        return classes, codes, slice(None)
    kept = np.bincount(codes, weights=sample_weight, minlength=len(classes)) > 0
    if kept.all() or np.count_nonzero(kept) < 2:
        return classes, codes, slice(None)
    return classes[kept], np.maximum(np.cumsum(kept) - 1, 0)[codes], kept


def check_each_class_has_weight(classes, codes, weights):
    """Raise ValueError if all examples of a class have weight 0."""
    empty = np.bincount(codes, weights=weights, minlength=len(classes)) == 0
    if empty.any():
        name = repr(str(classes[empty][0]))
        remedy = "leave the class out of y, or give it a positive weight"
        raise ValueError(f"every example of class {name} has weight 0: {remedy}")


def _are_labels(y, classes):
    """Whether y, a vector of finite entries, certainly holds labels: whole numbers that occur twice on average.

    Avoids `check_classification_targets`, which takes as long as a small fit.
    """
    if 2 * len(classes) > len(y):
        return False
    return y.dtype.kind in "biu" or (y.dtype.kind == "f" and bool(np.all(classes == np.trunc(classes))))


def _class_weights(class_weight, classes, y, codes, sample_weight):
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):  # "balanced": an example of weight k counts k times
        mass = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        # A class without weight does not count: it is left out, or `check_each_class_has_weight` names it.
        return np.divide(mass.sum(), np.count_nonzero(mass) * mass, out=np.ones(len(classes)), where=mass > 0)
    given = [class_weight.get(label) for label in classes.tolist()]
    if len(given) - given.count(None) in (len(given), len(class_weight)):
        return np.array([1.0 if weight is None else float(weight) for weight in given])
    # It raises the error. Above it would not do: it takes text such as "1" for a number, which is not in the dict.
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)
