"""What a fitted classifier with support vectors does: decision values, labels, linear weights."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernbench.estimators.multiclass import assemble, class_blocks, one_vs_rest, pair_values
from kernbench.kernels import blocks
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.functions import Linear
from kernbench.validation.rows import check_rows


class ExpansionMixin:
    """Prediction from ``support_vectors_``, ``dual_coef_`` and ``intercept_`` of every two-class problem.

    The estimator brings the parameters ``kernel`` and ``decision_function_shape`` and, when fitted,
    ``classes_``, ``kernel_`` and ``dtype_``.
    """

    def _set_expansion(self, X, codes, pairs, solutions):
        """Set the attributes that say what the decision functions are."""
        self.support_, self.n_support_, self.dual_coef_, self.intercept_ = assemble(
            pairs, solutions, codes, len(self.classes_)
        )
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel) else X[self.support_]

    def decision_function(self, X):
        """Return how sure the model is, and of which class.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whichever ``fit`` saw; K(X, train) of shape (n_samples, n_train) if
            ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: f(x) + b, positive for ``classes_[1]``. More, one against one: for ``"ovr"`` a score
            per class (pairs won, ties broken by the sum of their values), for ``"ovo"`` f(x) + b of each
            pair, positive for its earlier class. One against the rest: f(x) + b of each class.
        """
        values = self._pair_values(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        if self._against_rest:
            return values
        return values if self.decision_function_shape == "ovo" else one_vs_rest(values, len(self.classes_))

    def predict(self, X):
        """Return the label of each row.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self._pair_values(X)
        if len(self.classes_) == 2:
            return self.classes_[(values[:, 0] > 0).astype(np.intp)]
        if not self._against_rest:
            values = one_vs_rest(values, len(self.classes_))
        return self.classes_[values.argmax(axis=1)]

    @property
    def _against_rest(self):
        """Whether it is one against the rest: told by the layout, since parameters may change after a fit."""
        return len(self.dual_coef_) == len(self.classes_)

    def _pair_values(self, X):
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=not is_precomputed(self.kernel))
        check_range(X, self.kernel_, self.dtype_, feature_names=getattr(self, "feature_names_in_", None))
        if len(self.classes_) == 2 or self._against_rest:
            return self._product(X, slice(None)) + self.intercept_
        return pair_values(
            [self._product(X, block) for block in class_blocks(self.n_support_)], self.intercept_
        )

    def _product(self, X, block):
        """K(X, support vectors) times their coefficients, for a slice of them; K is never stored."""
        coef = self.dual_coef_[:, block].T
        if len(coef) == 0:
            return np.zeros((X.shape[0], coef.shape[1]))
        if is_precomputed(self.kernel):
            return X[:, self.support_[block]] @ coef
        return blocks.matmul(self.kernel_, X, self.support_vectors_[block], coef, dtype=self.dtype_)

    @property
    def coef_(self):
        """Weights of the features, shape (n_pairs, n_features), read-only; linear kernel only."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is there for kernel='linear' only")
        if len(self.classes_) == 2 or self._against_rest:
            coef = self.dual_coef_ @ self.support_vectors_
        else:
            products = [
                (self.dual_coef_[:, b] @ self.support_vectors_[b]).T for b in class_blocks(self.n_support_)
            ]
            coef = pair_values(products, np.zeros_like(self.intercept_)).T
        coef.flags.writeable = False
        return coef

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")
