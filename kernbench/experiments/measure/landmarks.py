"""Linear models on Nyström's features, with the parameters of a kernel machine, as one estimator."""

import numpy as np


class OnLandmarks:
    """Fit a linear model to Nyström's features; subclasses name the parameters and make the two."""

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
    """``make_pipeline(Nystroem(...), LinearSVC("hinge", ...))`` of this library or of scikit-learn.

    Parameters
    ----------
    gamma, C, kernel, fit_intercept
        As of ``SVC``; the linear SVM has the same C.
    n_landmarks : int
        At most one for each row.
    library : {"kernbench", "sklearn"}
    tol : float
    random_state : int
    """

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
    """``make_pipeline(Nystroem(...), LinearRegressor("squared_error", ...))``.

    Parameters
    ----------
    gamma, alpha, kernel
        As of `KernelRegressor`.
    n_landmarks : int
        At most one for each row.
    tol : float
    random_state : int
    """

    def __init__(self, gamma="scale", alpha=1e-3, *, kernel="rbf", n_landmarks=1000, tol=1e-3, random_state=None):
        self.gamma, self.alpha, self.kernel = gamma, alpha, kernel
        self.n_landmarks, self.tol, self.random_state = n_landmarks, tol, random_state

    def _parts(self, n_landmarks):
        from kernbench import LinearRegressor

        settings = {"alpha": self.alpha, "tol": self.tol, "random_state": self.random_state}
        return self._features(n_landmarks), LinearRegressor("squared_error", **settings)


class NystroemLogistic(OnLandmarks):
    """Nyström's features and scikit-learn's logistic regression: what many would try first to rank with a kernel.

    Parameters
    ----------
    gamma, kernel
        As of `ROCSVC`.
    C : float
        Of the logistic regression.
    n_landmarks : int
    landmarks : {"uniform", "stratified", "kmeans"}
    random_state : int
    """

    def __init__(self, gamma="scale", C=1.0, *, kernel="rbf", n_landmarks=300, landmarks="uniform", random_state=None):
        self.gamma, self.C, self.kernel, self.n_landmarks = gamma, C, kernel, n_landmarks
        self.landmarks, self.random_state = landmarks, random_state

    def _parts(self, n_landmarks):
        from sklearn.linear_model import LogisticRegression

        return self._features(n_landmarks, self.landmarks), LogisticRegression(C=self.C, max_iter=1000)
