"""Zero models: the best constant. A method that is not better than these has not solved the problem."""

import numpy as np

from kernbench.losses.regression import regression_loss
from kernbench.problems.intercept import best_constant


class ZeroClassifier:
    """f = 0 and the intercept of least mean hinge loss: predicts the larger class for every row.

    Parameters
    ----------
    C : float
    fit_intercept : bool
        False makes the scores 0, as those of f = 0 are; labels are still those of the larger class.
    **ignored
        Parameters of the other methods of a race, such as those of a kernel.
    """

    loss_ = "hinge"

    def __init__(self, C=1.0, fit_intercept=True, **ignored):
        self.C, self.fit_intercept = C, fit_intercept

    def fit(self, X, y):
        """Count the labels y."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self.larger_ = self.classes_[np.argmax(counts)]
        positive = len(self.classes_) == 2 and counts[1] > counts[0]
        self.intercept_ = np.array([float(self.fit_intercept) * (1.0 if positive else -1.0)])
        self.support_, self.dual_coef_ = np.empty(0, dtype=np.intp), np.empty((1, 0))
        return self

    def predict(self, X):
        """Labels of rows."""
        return np.full(X.shape[0], self.larger_)

    def decision_function(self, X):
        """Scores of rows, all equal."""
        return np.full(X.shape[0], self.intercept_[0])


class ZeroRegressor:
    """f = 0 and the constant of least loss for every row: with the squared error the mean of the targets.

    Parameters
    ----------
    loss : str
        As in `KernelRegressor`.
    epsilon : float
        Parameter of the epsilon-insensitive losses.
    **ignored
        As for `ZeroClassifier`.
    """

    def __init__(self, loss="squared_error", epsilon=0.1, **ignored):
        self.loss, self.epsilon = loss, epsilon

    def fit(self, X, y):
        """Choose the constant for y."""
        y = np.asarray(y, dtype=np.float64)
        self.intercept_ = float(best_constant(y, None, regression_loss(self.loss, epsilon=self.epsilon)))
        self.support_, self.dual_coef_ = np.empty(0, dtype=np.intp), np.empty((1, 0))
        return self

    def predict(self, X):
        """Values at rows."""
        return np.full(X.shape[0], self.intercept_)


class ZeroNoveltyDetector:
    """f = 0 and the level 0: no row is novel.

    Parameters
    ----------
    **ignored
        As for `ZeroClassifier`.
    """

    def __init__(self, **ignored):
        pass

    def fit(self, X):
        """Learn nothing."""
        self.offset_, self.support_, self.dual_coef_ = 0.0, np.empty(0, dtype=np.intp), np.empty((1, 0))
        return self

    def score_samples(self, X):
        """Scores of rows, all 0."""
        return np.zeros(X.shape[0])

    decision_function = score_samples
