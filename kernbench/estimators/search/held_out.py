"""Scores of held-out rows by any scorer of scikit-learn, from their decision values instead of predictions.

Scorers of scikit-learn hand on what they are given to the model: here the indices of rows, so that no rows are copied.
A function of one's own may look at the rows. It is given them, and a model that knows their decision values: see `on`.
"""

from copy import copy

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from kernbench.estimators.svm.multiclass import class_scores, products_of


class _HeldOutRows:
    """What classifiers and regressors have in common: where the values of the rows of an argument are.

    `asked` is whether any probabilities were needed.
    """

    rows, probabilities, asked = None, None, False
    _of_rows = ("decisions", "class_scores", "labels", "probabilities")

    def on(self, rows, test):
        """Return the model of the rows with indices `test`, whose methods take `rows` in place of indices."""
        own = copy(self)
        own.rows = rows
        for name in self._of_rows:
            values = getattr(self, name, None)
            if values is not None:
                setattr(own, name, values[test])
        return own

    def fit(self, indices, y):
        """Return the model unchanged: scikit-learn recognises an estimator by this method."""
        return self

    def _places(self, X):
        if self.rows is None:
            return np.ravel(X)
        if X is self.rows or _are_equal(X, self.rows):
            return np.arange(len(self.decisions))  # copies: a function may change its own in place
        raise ValueError(
            "a scorer is called with the held-out rows of a fold and a model that knows their decision values: it may "
            "ask for the predictions of all these rows, not of some or of others"
        )


def _are_equal(X, Z):
    if np.shape(X) != np.shape(Z):
        return False
    if sparse.issparse(X) and sparse.issparse(Z):
        return (X != Z).nnz == 0
    return not (sparse.issparse(X) or sparse.issparse(Z)) and np.array_equal(np.asarray(X), np.asarray(Z))


class HeldOut(_HeldOutRows, ClassifierMixin, BaseEstimator):  # scorers require an estimator of scikit-learn
    """A classifier whose "rows" are indices of rows with known decision values.

    `decisions` has shape (n,) for two classes, else (n, n_classes) or (n, n_pairs), as ``decision_function`` returns
    them; `class_scores` is the same but never of pairs, and `probabilities`, of shape (n, n_classes), may be None.
    """

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

    def decision_function(self, indices):
        return self.decisions[self._places(indices)]

    def predict(self, indices):
        return self.labels[self._places(indices)]

    @available_if(lambda self: self.probabilities is not None)
    def predict_proba(self, indices):
        self.asked = True
        return self.probabilities[self._places(indices)]


class HeldOutPredictions(_HeldOutRows, RegressorMixin, BaseEstimator):
    """A regressor whose "rows" are indices of rows with known predictions, ``decisions``."""

    @classmethod
    def of(cls, predictions):
        """Return the regressor of predictions, shape (n,) or (n, n_outputs)."""
        self = cls()
        self.decisions = predictions
        return self

    def predict(self, indices):
        return self.decisions[self._places(indices)]
