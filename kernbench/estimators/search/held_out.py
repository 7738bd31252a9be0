"""Scores of held-out rows by any scorer of scikit-learn, from their decision values instead of predictions."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from kernbench.estimators.svm.multiclass import class_scores, products_of


class HeldOut(ClassifierMixin, BaseEstimator):  # scorers require an estimator of scikit-learn
    """A classifier whose "rows" are indices of rows with known decision values.

    `decisions` has shape (n,) for two classes, else (n, n_classes) or (n, n_pairs), as ``decision_function`` returns
    them; `class_scores` is the same but never of pairs, and `probabilities`, of shape (n, n_classes), may be None;
    `asked` is whether any were needed.
    """

    probabilities, asked = None, False

    @classmethod
    def of(cls, pair_values, classes, shape, break_ties):
        """Return the classifier of decision values of pairs of classes, shape (n, n_pairs)."""
        self = cls()
        self.classes_ = classes
        if len(classes) == 2:
            self.decisions = self.class_scores = pair_values[:, 0]
            self.labels = classes[(self.decisions >= 0).astype(np.intp)]
            return self
        products, zero = products_of(pair_values, len(classes)), np.zeros(pair_values.shape[1])
        self.class_scores = class_scores(products, zero)
        self.decisions = pair_values if shape == "ovo" else self.class_scores
        self.labels = classes[class_scores(products, zero, break_ties=break_ties).argmax(axis=1)]
        return self

    def fit(self, indices, y):
        """Return the classifier unchanged: scikit-learn recognises an estimator by this method."""
        return self

    def decision_function(self, indices):
        return self.decisions[np.ravel(indices)]

    def predict(self, indices):
        return self.labels[np.ravel(indices)]

    @available_if(lambda self: self.probabilities is not None)
    def predict_proba(self, indices):
        self.asked = True
        return self.probabilities[np.ravel(indices)]


@dataclass(frozen=True)
class Scoring:
    """The scores of a search.

    Attributes
    ----------
    scorer : callable
        Returns a number, or a dict of numbers by name.
    names : tuple of str
        Names of the scores; ``("score",)`` of a single one.
    decides : str or None
        The score of which the best cell has the largest mean; None where a function decides, or none of several.
    needs_probabilities : bool
    """

    scorer: object
    names: tuple
    decides: str
    needs_probabilities: bool

    def of(self, held_out, folds, y):
        """Return a dict of the scores of each fold."""
        found = [self._values(self.scorer(held_out, fold.test[:, None], y[fold.test])) for fold in folds]
        return {name: np.array([values[name] for values in found], dtype=np.float64) for name in self.names}

    def _values(self, value):
        return value if isinstance(value, dict) else {"score": value}


def checked_scoring(search, folds, y, classes):
    """Return the `Scoring` of a search; raise ValueError where decision values, labels and `refit` do not suffice."""
    from sklearn.metrics import check_scoring

    scoring, refit = search.scoring, search.refit
    n_pairs = len(classes) * (len(classes) - 1) // 2
    nothing = HeldOut.of(np.zeros((len(y), n_pairs)), classes, search.decision_function_shape, search.break_ties)
    if search.calibration is not None:
        nothing.probabilities = np.full((len(y), len(classes)), 1.0 / len(classes))
    if isinstance(scoring, list | tuple | set | dict) and len(scoring) == 0:
        raise ValueError("scoring is empty: name at least one score, or pass None for accuracy")
    scorer = check_scoring(nothing, scoring)
    try:
        value = scorer(nothing, folds[0].test[:, None], y[folds[0].test])
    except (AttributeError, ValueError) as error:
        if "predict_proba" in str(error):
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, which a support vector machine does not have: pass "
                "calibration='sigmoid' or 'isotonic', or choose a score of labels or decision values, such as "
                "'accuracy' or 'roc_auc'"
            ) from error
        raise
    if isinstance(value, dict):
        names = tuple(value)
        if refit is True or (isinstance(refit, str) and refit not in names):
            raise ValueError(
                f"with several scores refit must be the name of the one that decides, a function or False, got "
                f"{refit!r}: the scores are {', '.join(names)}"
            )
        return Scoring(scorer, names, refit if isinstance(refit, str) else None, nothing.asked)
    if not isinstance(value, Real):
        raise ValueError(f"scoring={scoring!r} must return a number or a dict of numbers, got {type(value).__name__}")
    return Scoring(scorer, ("score",), None if callable(refit) else "score", nothing.asked)
