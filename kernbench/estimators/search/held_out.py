"""Scores of held-out rows by any scorer of scikit-learn, from their decision values instead of predictions."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
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

    @classmethod
    def of_classes(cls, decisions, classes, labels):
        """Return the classifier of decision values of classes, shape (n,) or (n, n_classes), and the labels there."""
        self = cls()
        self.classes_, self.labels, self.decisions, self.class_scores = classes, labels, decisions, decisions
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


class HeldOutPredictions(RegressorMixin, BaseEstimator):
    """A regressor whose "rows" are indices of rows with known predictions, ``decisions``."""

    probabilities, asked = None, False

    @classmethod
    def of(cls, predictions):
        """Return the regressor of predictions, shape (n,) or (n, n_outputs)."""
        self = cls()
        self.decisions = predictions
        return self

    def fit(self, indices, y):
        """Return the regressor unchanged: scikit-learn recognises an estimator by this method."""
        return self

    def predict(self, indices):
        return self.decisions[np.ravel(indices)]
