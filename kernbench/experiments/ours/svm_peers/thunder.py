"""ThunderSVM's classifier, with the attributes by which a kernel SVM is judged."""

import numpy as np


class ThunderSVC:
    """ThunderSVM's ``SVC`` for two classes and dense rows, with the conventions of scikit-learn's class.

    ThunderSVM 0.3.3 has no ``classes_``, counts the class of the first row as positive, and subtracts ``intercept_``.

    Parameters
    ----------
    C, gamma : float
    kernel : str, default="rbf"
    max_mem_size : int, default=4000
        Megabytes.
    """

    def __init__(self, C=1.0, gamma=1.0, kernel="rbf", max_mem_size=4000):
        self.C, self.gamma, self.kernel, self.max_mem_size = C, gamma, kernel, max_mem_size

    def fit(self, X, y):
        """Fit to rows and their labels."""
        from thundersvm import SVC

        self.classes_ = np.unique(y)
        self.sign_ = 1.0 if y[0] == self.classes_[1] else -1.0
        self.model_ = SVC(kernel=self.kernel, C=self.C, gamma=self.gamma, max_mem_size=self.max_mem_size)
        self.model_.fit(X, np.where(y == self.classes_[1], 1, -1))
        self.support_ = self.model_.support_
        self.dual_coef_ = self.sign_ * self.model_.dual_coef_
        self.intercept_ = -self.sign_ * self.model_.intercept_
        return self

    def decision_function(self, X):
        """Scores of rows, positive for the second class."""
        return self.sign_ * np.ravel(self.model_.decision_function(X))

    def predict(self, X):
        """Labels of rows."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
