"""Scores of held-out rows by any scorer of scikit-learn, from their decision values instead of predictions."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from kernbench.estimators.svm.multiclass import class_scores, products_of


class HeldOut(ClassifierMixin, BaseEstimator):  # scorers require an estimator of scikit-learn
    """A classifier whose "rows" are indices of rows with known decision values.

    `decisions` has shape (n,) for two classes, else (n, n_classes) or (n, n_pairs), as ``decision_function`` returns
    them; `votes` has shape (n, n_classes).
    """

    @classmethod
    def of(cls, pair_values, classes, shape, break_ties):
        """Return the classifier of decision values of pairs of classes, shape (n, n_pairs)."""
        self = cls()
        self.classes_ = classes
        if len(classes) == 2:
            self.decisions = pair_values[:, 0]
            self.labels = classes[(self.decisions >= 0).astype(np.intp)]
            return self
        products, zero = products_of(pair_values, len(classes)), np.zeros(pair_values.shape[1])
        self.decisions = pair_values if shape == "ovo" else class_scores(products, zero)
        self.labels = classes[class_scores(products, zero, break_ties=break_ties).argmax(axis=1)]
        return self

    def fit(self, indices, y):
        """Return the classifier unchanged: scikit-learn recognises an estimator by this method."""
        return self

    def decision_function(self, indices):
        return self.decisions[np.ravel(indices)]

    def predict(self, indices):
        return self.labels[np.ravel(indices)]

    def scores(self, scorer, folds, y):
        """Return the score of each fold."""
        return np.array([scorer(self, fold.test[:, None], y[fold.test]) for fold in folds])


def checked_scorer(scoring, folds, y, classes, shape, break_ties):
    """Return the scorer that `scoring` stands for; raise ValueError unless decision values and labels suffice."""
    from sklearn.metrics import check_scoring

    n_pairs = len(classes) * (len(classes) - 1) // 2
    nothing = HeldOut.of(np.zeros((len(y), n_pairs)), classes, shape, break_ties)
    scorer = check_scoring(nothing, scoring)
    try:
        value = scorer(nothing, folds[0].test[:, None], y[folds[0].test])
    except (AttributeError, ValueError) as error:
        if "predict_proba" in str(error):
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, which a support vector machine does not have: choose a "
                "score of labels or decision values, such as 'accuracy' or 'roc_auc', or GridSearchCV over "
                "CalibratedClassifierCV"
            ) from error
        raise
    if not np.isscalar(value):
        raise ValueError(f"scoring={scoring!r} must be a single score, got a {type(value).__name__}")
    return scorer
