"""What may be ranked: labels of two classes, finite scores, weights that weigh, pairs that exist."""

import numpy as np

from kernbench.validation.foreign import host_array


def binary_problem(y, sample_weight=None):
    """Return the positives and the weights of a two-class problem, checked.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 or +1, or a boolean mask of the positives.
    sample_weight : array-like of shape (n,), optional
        At least 0.

    Returns
    -------
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), or None
        Those of each class divided by a power of two so that the largest lies in [1/2, 1): pairs keep their
        shares, and no digit is lost. None where all are equal.

    Raises
    ------
    ValueError
        Other labels, one class only, a class without weight, weights negative or not finite.
    """
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {y.shape}")
    positive = y.copy() if y.dtype == bool else y == 1  # contiguous, and not the caller's
    if y.dtype != bool and not np.all(positive | (y == -1)):
        raise ValueError("y must hold the labels -1 and +1, or be a boolean mask of the positives")
    weights = None if sample_weight is None else checked_weights(sample_weight, len(y))
    for members, name in ((positive, "positive"), (~positive, "negative")):
        if not np.any(members if weights is None else weights[members]):
            raise ValueError(f"pairs need both classes, but no {name} sample has a weight above 0")
    if weights is None or np.all(weights == weights[0]):
        return positive, None
    return positive, in_units_of_the_classes(weights, positive)


def ranked_targets(y, of_margin, sample_weight=None):
    """Return the targets in float64 and the weights, or None for none, of a list of losses that are ranked.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 or +1, or a boolean mask of the positives, for a loss of a margin; real numbers otherwise.
    of_margin : bool
    sample_weight : array-like of shape (n,), optional
        At least 0, not all 0.
    """
    y = np.asarray(y)
    if y.ndim != 1 or len(y) == 0:
        raise ValueError(f"y must be one-dimensional and not empty, got shape {y.shape}")
    if of_margin and y.dtype == bool:
        y = np.where(y, 1.0, -1.0)
    y = checked_scores(y, len(y), name="y")
    if of_margin and not np.all(np.abs(y) == 1):
        raise ValueError("y must hold the labels -1 and +1, or be a boolean mask of the positives")
    weights = None if sample_weight is None else checked_weights(sample_weight, len(y))
    if weights is not None and not weights.any():
        raise ValueError("no sample has a weight above 0")
    return y, weights


def in_units_of_the_classes(weights, positive):
    """Return weights divided by a power of two in each class: the largest then lies in [1/2, 1).

    (Below that if it is denormal: the power itself must be a number.)
    """
    factors = []
    for members in (positive, ~positive):
        exponent = np.frexp(np.compress(members, weights).max())[1]
        factors.append(2.0 ** min(-int(exponent), 1023))
    return weights * np.where(positive, *factors)


def one_number_each(values, n, name="scores"):
    """Return values in float64, one for each of n samples."""
    values = np.asarray(host_array(values, name))
    if values.dtype.kind in "cmM":  # NumPy would drop imaginary parts, and count dates in a unit of its own
        raise ValueError(f"{name} must hold real numbers, got {values.dtype}")
    try:
        values = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {values.dtype}") from None
    if values.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), got {values.shape}")
    return values


def checked_weights(sample_weight, n):
    """Return sample weights in float64: one for each of n samples, finite and at least 0."""
    weights = one_number_each(sample_weight, n, "sample_weight")
    if not np.all(np.isfinite(weights)) or np.any(weights < 0):
        raise ValueError("sample_weight must be finite and at least 0")
    return weights


def checked_scores(scores, n, name="scores"):
    """Return scores in float64: one for each of n samples, finite."""
    scores = one_number_each(scores, n, name)
    if not np.all(np.isfinite(scores)):
        wrong = np.argmin(np.isfinite(scores))
        raise ValueError(f"{name} must be finite: NaN or infinity found at index {wrong}")
    return scores


def checked_pairs(first, second, n_samples):
    """Return the two index lists of pairs in int32: equally long, not empty, below `n_samples`."""
    lists = []
    if len(first) != len(second) or len(first) == 0:
        raise ValueError(f"pairs need two lists of one length, got {len(first)} and {len(second)} indices")
    if n_samples > 2**31:
        raise ValueError(f"pairs are listed by 32-bit indices: at most {2**31} samples, got {n_samples}")
    for indices, name in ((first, "first"), (second, "second")):
        indices = np.asarray(indices)
        if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
            raise ValueError(f"{name} must be a one-dimensional list of integer indices")
        if not (0 <= indices.min() and indices.max() < n_samples):
            raise ValueError(f"{name} must hold indices from 0 to {n_samples - 1}")
        lists.append(np.ascontiguousarray(indices, dtype=np.int32))
    return lists
