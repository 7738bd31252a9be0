"""The arguments of metrics: two labels of any kind, scores, weights."""

import numpy as np

from kernbench.pairs.checks import checked_weights, in_units_of_the_classes, one_number_each
from kernbench.validation.foreign import host_array


def scored_problem(y, score, sample_weight, pos_label, name="score"):
    """Return score, positives and weights, checked; that the scores are finite remains to be seen.

    Messages call the scores `name`.
    """
    positive = _positives(_column(y, "y"), pos_label)
    score = host_array(score, name)
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        shape = np.shape(score)
        raise ValueError(f"{name} must be one column, got shape {shape}: take that of the positive class")
    score = _column(score, name)
    if len(score) != len(positive):
        found = f"{len(positive)} labels and {len(score)} scores"
        raise ValueError(f"y and {name} must be equally long, got {found}")
    score = one_number_each(score, len(positive), name)
    if sample_weight is None:
        return score, positive, None
    weights = checked_weights(sample_weight, len(positive))
    if not all(np.compress(members, weights).any() for members in (positive, ~positive)):
        raise ValueError("one class has no weight: the ROC curve is not defined")
    return score, positive, in_units_of_the_classes(weights, positive)


def _column(values, name):
    """Return a list of values, or a single column of them, as an array of shape (n,)."""
    values = np.asarray(host_array(values, name))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
    return values


def _positives(y, pos_label):
    """Return which labels are positive; there must be two."""
    if len(y) == 0:
        raise ValueError("y is empty")
    if y.dtype.kind in "biuf":
        labels = np.array([y.min(), y.max()])
        if np.isnan(labels).any():
            raise ValueError("y contains NaN")
        positive = y == labels[1]
        two = y.dtype == bool or bool(np.all(positive | (y == labels[0])))
    else:
        try:
            labels = np.unique(y)
        except TypeError:
            what = "not a mixture of numbers and strings, and no missing values"
            raise ValueError(f"y must hold labels of one kind, {what}") from None
        if np.any(y != y):
            raise ValueError("y contains NaN")
        positive, two = y == labels[-1], len(labels) <= 2
    if not two or labels[0] == labels[-1]:
        found = f"only {labels[0]}" if two else "more than two"
        raise ValueError(f"y must hold two different labels, found {found}: the ROC curve is not defined")
    if pos_label is None or pos_label == labels[-1]:
        return positive
    if pos_label != labels[0]:
        raise ValueError(f"pos_label={pos_label!r} is not a label: y holds {labels[0]} and {labels[-1]}")
    return ~positive
