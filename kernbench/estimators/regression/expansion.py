"""A regressor with support vectors: predictions, linear weights."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kernbench._typing import Rows
from kernbench.estimators.base import KernelModel
from kernbench.estimators.fit.centring import combined
from kernbench.estimators.fit.fitted_state import (
    check_centre,
    check_floats,
    check_kernel_state,
    check_names,
    check_support,
)
from kernbench.estimators.svm.expansion import Expansion, require_linear
from kernbench.validation.numbers import check_number


class ExpansionRegressor(RegressorMixin, Expansion, KernelModel):
    """Prediction from ``support_vectors_``, ``dual_coef_`` and ``intercept_``, of one output or several."""

    solver_: str

    def predict(self, X: Rows) -> np.ndarray:
        """Return f(x) + b of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        self._check_is_fitted()
        X = self._checked(X)
        if self._has_weights:
            values = np.concatenate(list(self._products_with_weights(X)))
        else:
            values = self._product(X, slice(None))
            if self.centre_ is not None:  # the coefficients are those of rows less the centre
                values -= np.multiply.outer(X @ self.centre_, self.dual_coef_.sum(axis=1))
        return (values if np.ndim(self.intercept_) else values[:, 0]) + self.intercept_

    @property
    def coef_(self) -> Any:
        """Weights of the features, shape (n_features,) or (n_outputs, n_features), read-only; linear kernel only."""
        self._check_is_fitted()
        require_linear(self.kernel_)
        dual_coef = self.dual_coef_ if np.ndim(self.intercept_) else self.dual_coef_[0]
        coef = combined(dual_coef, self.support_vectors_, self.centre_)
        coef.flags.writeable = False
        return coef

    def _check_fitted_state(self):
        check_names(self)
        check_kernel_state(self)
        check_support(self)
        check_centre(self)
        outputs = np.shape(self.intercept_)
        check_floats(self, {"dual_coef_": (*(outputs or (1,)), len(self.support_))})
        if outputs:
            check_floats(self, {"intercept_": outputs[:1]})
        else:
            check_number("intercept_", self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
