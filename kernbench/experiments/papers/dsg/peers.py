"""Rivals and variants as estimators: the paper's r- and n-methods, RBFSampler with SGD, one pass of few batches."""

from time import perf_counter

import numpy as np

from kernbench._random import as_generator

ROWS_AT_ONCE = 2**14


class FixedFeaturesSVC:
    """A linear SVM without intercept on explicit features of a Gaussian kernel.

    Parameters
    ----------
    gamma, alpha : float
        The objective is ``alpha/2 ‖w‖²`` plus the mean hinge loss.
    features : {"random", "nystroem"}
    n_features : int
    solver : str
        Solver of `LinearSVC`.
    max_iter : int
    max_seconds : float or None
    random_state : int or None
    solver_options : dict or None
    callback : callable or None
        As in `LinearSVC`, with a model that predicts labels of original rows.
    """

    def __init__(
        self,
        gamma,
        alpha,
        features="random",
        n_features=256,
        solver="sdca",
        max_iter=-1,
        max_seconds=None,
        random_state=None,
        solver_options=None,
        callback=None,
    ):
        self.gamma, self.alpha, self.features, self.n_features = gamma, alpha, features, n_features
        self.solver, self.max_iter, self.max_seconds = solver, max_iter, max_seconds
        self.random_state, self.solver_options, self.callback = random_state, solver_options, callback

    def fit(self, X, y):
        """Fit to rows X with labels y."""
        from kernbench.features import Nystroem, RandomFeatures
        from kernbench.kernels import Gaussian

        kernel, n = Gaussian(sigma=(0.5 / self.gamma) ** 0.5), X.shape[0]
        make = {"random": RandomFeatures, "nystroem": Nystroem}[self.features]
        features = make(kernel, min(self.n_features, n), random_state=self.random_state)
        callback = None
        if self.callback is not None:

            def callback(linear):
                return self.callback(OnFeatures(features, linear))

        linear = self._linear(
            n, solver=self.solver, fit_intercept=False, tol=1e-9, max_iter=self.max_iter,
            max_seconds=self.max_seconds, random_state=self.random_state, solver_options=self.solver_options,
            callback=callback,
        )  # fmt: skip
        linear.fit(features.fit_transform(X), y)
        self.model_ = OnFeatures(features, linear)
        self.trace_, self.n_iter_ = linear.trace_, np.array([np.max(linear.n_iter_)])
        return self

    def predict(self, X):
        """Labels, or values, of rows."""
        return self.model_.predict(X)

    def _linear(self, n_rows, **settings):
        from kernbench import LinearSVC

        return LinearSVC("hinge", C=1.0 / (self.alpha * n_rows), **settings)


class FixedFeaturesRegressor(FixedFeaturesSVC):
    """Ridge regression on explicit features by an iterative solver of `LinearRegressor`; parameters as above."""

    def _linear(self, n_rows, **settings):
        from kernbench import LinearRegressor

        return LinearRegressor("squared_error", alpha=self.alpha, **settings)


class OnFeatures:
    """A linear model that predicts from original rows."""

    def __init__(self, features, linear):
        self.features, self.linear = features, linear

    def predict(self, X):
        """Labels of rows."""
        return self.linear.predict(self.features.transform(X))


class FixedFeaturesRidge:
    """Ridge regression on explicit features of a Gaussian kernel, solved exactly.

    Minimises ``alpha/2 ‖w‖²`` plus half the mean squared error: what every r- or n-method with these features converges
    to. Parameters are those of `FixedFeaturesSVC`.
    """

    def __init__(self, gamma, alpha, features="random", n_features=256, random_state=None):
        self.gamma, self.alpha, self.features, self.n_features = gamma, alpha, features, n_features
        self.random_state = random_state

    def fit(self, X, y):
        """Fit to rows X with targets y."""
        from scipy.linalg import solve

        from kernbench.features import Nystroem, RandomFeatures
        from kernbench.kernels import Gaussian

        make = {"random": RandomFeatures, "nystroem": Nystroem}[self.features]
        kernel = Gaussian(sigma=(0.5 / self.gamma) ** 0.5)
        self.map_ = make(kernel, min(self.n_features, len(y)), random_state=self.random_state).fit(X)
        products, right = 0.0, 0.0
        for start in range(0, len(y), ROWS_AT_ONCE):
            Z = self.map_.transform(X[start : start + ROWS_AT_ONCE]).astype(np.float64)
            products = products + Z.T @ Z
            right = right + Z.T @ y[start : start + ROWS_AT_ONCE]
        products[np.diag_indices_from(products)] += self.alpha * len(y)
        self.coef_ = solve(products, right, assume_a="pos")
        return self

    def predict(self, X):
        """Values at rows."""
        return self.map_.transform(X) @ self.coef_


class SampledSGD:
    """scikit-learn's ``RBFSampler`` and ``SGDClassifier`` with log loss, epoch after epoch until the time is over."""

    def __init__(self, gamma, n_components=2048, alpha=1e-6, max_epochs=1000, max_seconds=None, random_state=None):
        self.gamma, self.n_components, self.alpha = gamma, n_components, alpha
        self.max_epochs, self.max_seconds, self.random_state = max_epochs, max_seconds, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y; at least one epoch."""
        from sklearn.kernel_approximation import RBFSampler
        from sklearn.linear_model import SGDClassifier

        start, rng = perf_counter(), as_generator(self.random_state)
        self.map_ = RBFSampler(gamma=self.gamma, n_components=self.n_components, random_state=self.random_state)
        self.map_.fit(X[:1])
        self.linear_ = SGDClassifier(loss="log_loss", alpha=self.alpha, random_state=self.random_state)
        classes = np.unique(y)
        self.n_iter_ = np.array([0])
        for _ in range(self.max_epochs):
            order = rng.permutation(len(y))
            for at in range(0, len(y), ROWS_AT_ONCE):
                rows = order[at : at + ROWS_AT_ONCE]
                self.linear_.partial_fit(self.map_.transform(X[rows]), y[rows], classes=classes)
            self.n_iter_ += 1
            if self.max_seconds is not None and perf_counter() - start >= self.max_seconds:
                break
        return self

    def predict(self, X):
        """Labels of rows."""
        return self.linear_.predict(self.map_.transform(X))


class OnePass:
    """`DoublyStochasticClassifier` with softmax over arrays as over a stream: in one pass, all of its steps as told.

    Parameters
    ----------
    gamma : float
    features : float
        Features of a block, as a share of the rows of a batch: of all blocks, as a share of all rows.
    step_size : float
    widen : float
        Factor of the kernel's width.
    largest_batch : int
        Rows of a batch, of which a pass has at least eight.
    random_state : int
    """

    def __init__(self, gamma, features=0.25, step_size=1.0, widen=1.0, largest_batch=4096, random_state=0):
        self.gamma, self.features, self.step_size, self.widen = gamma, features, step_size, widen
        self.largest_batch, self.random_state = largest_batch, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y."""
        from kernbench import DoublyStochasticClassifier

        self.batch_size = min(self.largest_batch, -(-len(y) // 8))
        self.model_ = DoublyStochasticClassifier(
            gamma=self.gamma / self.widen**2,
            loss="log_loss",
            batch_size=self.batch_size,
            block_size=round(self.features * self.batch_size),
            step_size=self.step_size,
            max_iter=-(-len(y) // self.batch_size),
            random_state=self.random_state,
        ).fit(X, y)
        self.n_iter_, self.n_feature_values_ = self.model_.n_iter_, self.model_.n_feature_values_
        return self

    def predict(self, X):
        """Labels of rows."""
        return self.model_.predict(X)
