"""Linear classifiers of other libraries on Dask arrays."""

from sklearn.base import BaseEstimator


class Logistic(BaseEstimator):
    """dask-ml's logistic regression, with alpha/2 ||w||^2 beside the mean loss."""

    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        """Fit by L-BFGS over the partitions."""
        from dask_ml.linear_model import LogisticRegression

        self.model_ = LogisticRegression(C=1.0 / (self.alpha * len(y)), solver="lbfgs", max_iter=100)
        self.model_.fit(X, (y > 0).astype(int))
        return self

    def decision_function(self, X):
        """Return the scores of rows."""
        return X @ self.model_.coef_.ravel()


class StochasticGradient(BaseEstimator):
    """scikit-learn's SGD, partition after partition, by dask-ml."""

    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        """Fit in one pass."""
        from dask_ml.wrappers import Incremental
        from sklearn.linear_model import SGDClassifier

        self.model_ = Incremental(SGDClassifier(loss="hinge", alpha=self.alpha, random_state=0))
        self.model_.fit(X, y, classes=[-1, 1])
        return self

    def decision_function(self, X):
        """Return the scores of rows."""
        return self.model_.estimator_.decision_function(X)
