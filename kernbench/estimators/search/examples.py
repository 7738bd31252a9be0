"""The training data of a search, checked once."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Examples:
    """Checked training data.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        A kernel matrix if `is_precomputed`.
    y : ndarray of shape (n,) or (n, n_outputs)
        Labels or targets, as scorers take them.
    sample_weight : ndarray of shape (n,), or None
        Without class weights.
    classes : ndarray of shape (n_classes,), or None in a regression
    codes : ndarray of shape (n,), or None in a regression
        Index of each label in `classes`.
    weights : ndarray of shape (n,), or None
        With class weights: rows of weight 0 do not take part.
    is_precomputed : bool
    """

    X: object
    y: np.ndarray
    sample_weight: np.ndarray | None
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None
    weights: np.ndarray | None = None
    is_precomputed: bool = False

    @property
    def used(self):
        """Whether each row takes part."""
        return np.ones(len(self.y), dtype=bool) if self.weights is None else self.weights > 0

    @property
    def shape(self):
        """Shape of the decision values, or predictions, of all rows."""
        if self.classes is None:
            return len(self.y), 1 if self.y.ndim == 1 else self.y.shape[1]
        return len(self.y), 1 if len(self.classes) == 2 else len(self.classes)

    def training(self, fold):
        """Return rows, labels or targets, and weights of the training part of a fold."""
        rows = fold.train
        X = self.X[np.ix_(rows, rows)] if self.is_precomputed else self.X[rows]
        return X, self.y[rows], None if self.sample_weight is None else self.sample_weight[rows]

    def held_out(self, fold):
        """Return the held-out rows of a fold, as its model predicts from them."""
        return self.X[np.ix_(fold.test, fold.train)] if self.is_precomputed else self.X[fold.test]
