"""Linear models on Nyström's features, with the parameters of a kernel machine, as one estimator."""

import numpy as np


class OnLandmarks:
    """Fit a linear model to Nyström's features; subclasses name the parameters and make the two.

    Parameters are those of the kernel machine and of the linear model that subclasses name; `n_landmarks` is at most
    one for each row. ``library`` chooses who provides the linear model.
    """

    def fit(self, X, y):
        """Fit to rows X with labels or targets y."""
        self.features_, self.linear_ = self._parts(min(self.n_landmarks, X.shape[0]))
        self.linear_.fit(self.features_.fit_transform(X, y), y)
        self.coef_ = self.linear_.coef_
        self.n_iter_ = int(np.max(getattr(self.linear_, "n_iter_", 0)))
        return self

    def predict(self, X):
        """Labels, or values, of rows."""
        return self.linear_.predict(self.features_.transform(X))

    def decision_function(self, X):
        """Scores of rows."""
        return self.linear_.decision_function(self.features_.transform(X))

    @property
    def classes_(self):
        """Labels."""
        return self.linear_.classes_

    def _features(self, n_landmarks, landmarks="uniform"):
        from kernbench.features import Nystroem

        return Nystroem(self.kernel, n_landmarks, landmarks=landmarks, gamma=self.gamma, random_state=self.random_state)


class NystroemSVC(OnLandmarks):
    """``make_pipeline(Nystroem(...), LinearSVC("hinge", ...))``, here or of ``"sklearn"``; C as in ``SVC``."""

    def __init__(self, gamma="scale", C=1.0, *, kernel="rbf", fit_intercept=True, n_landmarks=300,
                 library="kernbench", tol=1e-3, random_state=None):  # fmt: skip
        self.gamma, self.C, self.kernel, self.fit_intercept = gamma, C, kernel, fit_intercept
        self.n_landmarks, self.library, self.tol, self.random_state = n_landmarks, library, tol, random_state

    def _parts(self, n_landmarks):
        settings = {"C": self.C, "fit_intercept": self.fit_intercept, "tol": self.tol, "loss": "hinge",
                    "random_state": self.random_state}  # fmt: skip
        if self.library == "kernbench":
            from kernbench import LinearSVC

            return self._features(n_landmarks), LinearSVC(**settings)
        from sklearn.kernel_approximation import Nystroem
        from sklearn.svm import LinearSVC

        features = Nystroem(self.kernel, gamma=self.gamma, n_components=n_landmarks, random_state=self.random_state)
        return features, LinearSVC(max_iter=10_000, **settings)


class NystroemRegressor(OnLandmarks):
    """``make_pipeline(Nystroem(...), LinearRegressor("squared_error", ...))``; alpha as in `KernelRegressor`."""

    def __init__(self, gamma="scale", alpha=1e-3, *, kernel="rbf", n_landmarks=1000, tol=1e-3, random_state=None):
        self.gamma, self.alpha, self.kernel = gamma, alpha, kernel
        self.n_landmarks, self.tol, self.random_state = n_landmarks, tol, random_state

    def _parts(self, n_landmarks):
        from kernbench import LinearRegressor

        settings = {"alpha": self.alpha, "tol": self.tol, "random_state": self.random_state}
        return self._features(n_landmarks), LinearRegressor("squared_error", **settings)


class NystroemSVR(OnLandmarks):
    """Nyström's features and a linear regression with the epsilon-insensitive loss; C and epsilon as in ``SVR``.

    The library of the regression is kernbench, scikit-learn (LIBLINEAR) or ``"rehline"``.
    """

    def __init__(self, gamma="scale", C=1.0, epsilon=0.1, *, kernel="rbf", n_landmarks=300, library="kernbench",
                 tol=1e-3, random_state=None):  # fmt: skip
        self.gamma, self.C, self.epsilon, self.kernel, self.n_landmarks = gamma, C, epsilon, kernel, n_landmarks
        self.library, self.tol, self.random_state = library, tol, random_state

    def fit(self, X, y):
        """Fit to rows X with targets y."""
        self.n_rows_ = X.shape[0]
        return super().fit(X, y)

    def _parts(self, n_landmarks):
        features, loss = self._features(n_landmarks), "epsilon_insensitive"
        if self.library == "kernbench":
            from kernbench import LinearRegressor

            alpha, seed = 1.0 / (self.C * self.n_rows_), self.random_state
            return features, LinearRegressor(loss, alpha=alpha, epsilon=self.epsilon, tol=self.tol, random_state=seed)
        settings = {"C": self.C, "tol": self.tol, "max_iter": 10_000}
        if self.library == "rehline":
            from rehline import plq_Ridge_Regressor

            return features, plq_Ridge_Regressor({"name": "SVR", "epsilon": self.epsilon}, **settings)
        from sklearn.svm import LinearSVR

        return features, LinearSVR(loss=loss, epsilon=self.epsilon, random_state=self.random_state, **settings)


class NystroemOneClass(OnLandmarks):
    """Nyström's features and scikit-learn's linear one-class SVM by stochastic gradients; nu as in ``OneClassSVM``."""

    def __init__(self, gamma="scale", nu=0.5, *, kernel="rbf", n_landmarks=300, random_state=None):
        self.gamma, self.nu, self.kernel = gamma, nu, kernel
        self.n_landmarks, self.random_state = n_landmarks, random_state

    def fit(self, X, y=None):
        """Fit to rows X."""
        return super().fit(X, y)

    def _parts(self, n_landmarks):
        from sklearn.linear_model import SGDOneClassSVM

        return self._features(n_landmarks), SGDOneClassSVM(self.nu, random_state=self.random_state)


class SnapSVC:
    """SnapML's SVM, which approximates the Gaussian kernel by `n_components` random features; C as in ``SVC``."""

    def __init__(self, gamma=1.0, C=1.0, *, n_components=300, random_state=None):
        self.gamma, self.C, self.n_components, self.random_state = gamma, C, n_components, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y."""
        from snapml import SupportVectorMachine

        self.machine_ = SupportVectorMachine(
            kernel="rbf", gamma=self.gamma, regularizer=1.0 / self.C, n_components=self.n_components,
            fit_intercept=True, random_state=self.random_state,
        )  # fmt: skip
        self.machine_.fit(X, y)
        return self

    def predict(self, X):
        """Labels of rows."""
        return self.machine_.predict(X)


class NystroemLogistic(OnLandmarks):
    """Nyström's features and scikit-learn's logistic regression, with its C: a first choice to rank with a kernel."""

    def __init__(self, gamma="scale", C=1.0, *, kernel="rbf", n_landmarks=300, landmarks="uniform", random_state=None):
        self.gamma, self.C, self.kernel, self.n_landmarks = gamma, C, kernel, n_landmarks
        self.landmarks, self.random_state = landmarks, random_state

    def _parts(self, n_landmarks):
        from sklearn.linear_model import LogisticRegression

        return self._features(n_landmarks, self.landmarks), LogisticRegression(C=self.C, max_iter=1000)
