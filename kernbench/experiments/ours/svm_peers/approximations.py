"""Nyström's features and a linear SVM on them, with the parameters of a kernel SVM."""

import numpy as np


class NystroemSVC:
    """``make_pipeline(Nystroem(...), LinearSVC(...))`` of this library or of scikit-learn.

    Parameters
    ----------
    gamma, C : float
        As of ``SVC(kernel="rbf")``; the linear SVM is given the hinge loss and the same C.
    n_landmarks : int
    library : {"kernbench", "sklearn"}
    tol : float
    max_iter : int
    random_state : int
    """

    def __init__(self, gamma, C, n_landmarks=300, library="kernbench", tol=1e-3, random_state=None):
        self.gamma, self.C, self.n_landmarks = gamma, C, n_landmarks
        self.library, self.tol, self.random_state = library, tol, random_state

    def fit(self, X, y):
        """Fit to rows X with labels y."""
        self.features_, self.linear_ = getattr(self, f"_{self.library}")(min(self.n_landmarks, X.shape[0]))
        self.linear_.fit(self.features_.fit_transform(X), y)
        self.classes_, self.coef_ = self.linear_.classes_, self.linear_.coef_
        self.n_iter_ = int(np.max(self.linear_.n_iter_))
        return self

    def predict(self, X):
        """Labels of rows."""
        return self.linear_.predict(self.features_.transform(X))

    def _kernbench(self, n_landmarks):
        from kernbench import LinearSVC
        from kernbench.features import Nystroem
        from kernbench.kernels import Gaussian

        kernel = Gaussian(sigma=(0.5 / self.gamma) ** 0.5)
        return (
            Nystroem(kernel, n_landmarks, random_state=self.random_state),
            LinearSVC("hinge", C=self.C, tol=self.tol, random_state=self.random_state),
        )

    def _sklearn(self, n_landmarks):
        from sklearn.kernel_approximation import Nystroem
        from sklearn.svm import LinearSVC

        return (
            Nystroem(gamma=self.gamma, n_components=n_landmarks, random_state=self.random_state),
            LinearSVC(loss="hinge", C=self.C, tol=self.tol, random_state=self.random_state, max_iter=10_000),
        )
