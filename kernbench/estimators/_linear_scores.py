"""What a fitted `LinearSVC` does: decision values and labels; and whether one that comes out of a file is whole."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernbench.estimators._fitted_state import _require
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Linear
from kernbench.validation.rows import check_rows


class LinearScoresMixin:
    """Prediction from ``coef_``, ``intercept_`` and ``classes_``."""

    def decision_function(self, X):
        """Return how sure the model is, and of which class.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            <w, x> + b: for two classes positive for ``classes_[1]``, for more one column per class.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        check_range(X, Linear(), "float64", feature_names=getattr(self, "feature_names_in_", None))
        values = X @ self.coef_.T + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]

    def _set_weights(self, solutions):
        """Set ``coef_`` and ``intercept_`` from the weights of columns, the constant one last."""
        weights = np.array([solution.coef for solution in solutions])
        if self.fit_intercept:
            self.coef_ = np.ascontiguousarray(weights[:, :-1])
            self.intercept_ = self.intercept_scaling * weights[:, -1]
        else:
            self.coef_, self.intercept_ = weights, np.zeros(len(weights))

    def _check_fitted_state(self):
        """Raise ValueError unless the fitted attributes belong together; a file may be damaged."""
        n_classes = len(self.classes_)
        n_problems = 1 if n_classes == 2 else n_classes
        shapes = {
            "classes_": (n_classes,),
            "coef_": (n_problems, self.n_features_in_),
            "intercept_": (n_problems,),
        }
        for name, shape in shapes.items():
            value = getattr(self, name)
            _require(np.shape(value) == shape, f"{name} has shape {np.shape(value)}, not {shape}")
        for name in ("coef_", "intercept_"):
            value = getattr(self, name)
            _require(value.dtype.kind == "f" and np.all(np.isfinite(value)), f"{name} is not finite")
        _require(
            n_classes >= 2 and np.all(self.classes_[:-1] < self.classes_[1:]),
            "classes_ are not sorted labels",
        )
        names = getattr(self, "feature_names_in_", None)
        _require(
            names is None or len(names) == self.n_features_in_,
            "feature_names_in_ does not have n_features_in_ names",
        )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")
