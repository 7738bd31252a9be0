"""Probabilities from out-of-fold scores: the calibrations of ``CalibratedClassifierCV``, as arrays.

Scikit-learn fits them, one for each class against the rest (of two classes one in all). What is kept is data, which
model files can hold: slopes and intercepts of the sigmoids, or the steps of the isotonic functions.
"""

import numpy as np
from scipy.special import expit
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin

METHODS = ("sigmoid", "isotonic")


class KnownScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose "rows" are their decision values; those that derive from it set ``classes_``."""

    def fit(self, scores, y, sample_weight=None):
        return self

    def decision_function(self, scores):
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, scores):  # scikit-learn checks that there is one
        values = self.decision_function(scores)
        return self.classes_[(values >= 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]


def fitted_calibration(method, scores, y, classes, sample_weight=None):
    """Return the calibration of decision values.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
    scores : ndarray of shape (n,) or (n, n_classes)
    y : ndarray of shape (n,)
        Labels.
    classes : ndarray of shape (n_classes,)
    sample_weight : ndarray of shape (n,), optional

    Returns
    -------
    dict
        ``method`` and, of each calibrated class, ``x`` and ``y``: two numbers of a sigmoid 1 / (1 + exp(x s + y)), or
        the knots of a piecewise linear function.
    """
    from sklearn.calibration import CalibratedClassifierCV  # slow to import

    class Known(KnownScores):
        classes_ = classes

    scores, rows = scores.reshape(len(scores), -1), np.arange(len(scores))
    model = CalibratedClassifierCV(Known(), method=method, cv=[(rows, rows)], ensemble=False)
    with config_context(enable_metadata_routing=False):  # `Known` takes weights without having requested them
        found = model.fit(scores, y, sample_weight=sample_weight).calibrated_classifiers_[0].calibrators
    if method == "sigmoid":
        x, y = ([np.atleast_1d(getattr(one, name)) for one in found] for name in ("a_", "b_"))
    else:
        x, y = ([getattr(one, name) for one in found] for name in ("X_thresholds_", "y_thresholds_"))
    return {"method": method, "x": x, "y": y}


def probabilities(calibration, scores):
    """Return the probability of each class, shape (n, n_classes), as ``CalibratedClassifierCV`` does."""
    scores = scores.reshape(len(scores), -1)
    columns = []
    for x, y, own in zip(calibration["x"], calibration["y"], scores.T, strict=True):
        columns.append(expit(-(x * own + y)) if calibration["method"] == "sigmoid" else np.interp(own, x, y))
    if len(columns) == 1:
        return np.column_stack([1.0 - columns[0], columns[0]])
    values = np.column_stack(columns)
    total = values.sum(axis=1, keepdims=True)
    return np.divide(values, total, out=np.full_like(values, 1.0 / len(columns)), where=total != 0.0)


def check_all_classes_are_held_out(folds, examples):
    """Raise ValueError unless the rows that folds hold out, to which a calibration is fitted, are of all classes."""
    rows = np.concatenate([fold.test for fold in folds])
    counts = np.bincount(examples.codes[rows[examples.used[rows]]], minlength=len(examples.classes))
    if counts.min() == 0:
        raise ValueError(
            f"a calibration is fitted to the rows that cv holds out, of which none is of class "
            f"{str(examples.classes[counts.argmin()])!r}: use folds that hold out all classes, or calibration=None"
        )


def out_of_fold_probabilities(method, scores, folds, y, classes, sample_weight=None):
    """Return probabilities of held-out rows from calibrations fitted to the other folds; NaN for rows never held out.

    Raises
    ------
    ValueError
        If the other folds of one lack a class.
    """
    result = np.full((len(y), len(classes)), np.nan)
    for k, fold in enumerate(folds):
        others = [other.test for j, other in enumerate(folds) if j != k]
        rows = np.concatenate(others) if others else np.empty(0, dtype=np.intp)
        used = rows if sample_weight is None else rows[sample_weight[rows] > 0]
        if len(np.unique(y[used])) < len(classes):
            raise ValueError(
                f"the calibration for fold {k} of cv is fitted to the rows that the other folds hold out, which lack a "
                "class: use more folds, stratified, or a score that needs no probabilities"
            )
        weights = None if sample_weight is None else sample_weight[rows]
        calibration = fitted_calibration(method, scores[rows], y[rows], classes, weights)
        result[fold.test] = probabilities(calibration, scores[fold.test])
    return result
