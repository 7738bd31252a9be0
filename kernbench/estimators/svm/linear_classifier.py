"""A classifier with weights of features: decision values, labels, sparse weights."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Rows
from kernbench.estimators.base import Classifier
from kernbench.estimators.fit.fitted_state import check_classes, check_floats
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Linear
from kernbench.validation.rows import check_rows


def labels_of(values, classes):
    """Return the labels of decision values, of shape (n,) or (n, n_classes)."""
    return classes[(values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)]


class LinearClassifier(Classifier):
    """Prediction from ``coef_``, ``intercept_`` and ``classes_``."""

    class_weight_: np.ndarray
    coef_: Any
    intercept_: np.ndarray
    loss_: str
    solver_: str
    dtype_: str
    n_inner_products_: int

    def decision_function(self, X: Rows) -> np.ndarray:
        """Return the decision values of rows.

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
        values = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Rows) -> np.ndarray:
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return labels_of(self.decision_function(X), self.classes_)

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a CSR matrix, which is smaller where most weights are 0.

        Returns
        -------
        self

        Notes
        -----
        Another ``fit`` makes it dense again.
        """
        check_is_fitted(self)
        self.coef_ = sparse.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` back to an array, as ``fit`` leaves it.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def _check_fitted_state(self):
        check_classes(self)
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        check_floats(self, {"coef_": (n_problems, self.n_features_in_), "intercept_": (n_problems,)})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")
