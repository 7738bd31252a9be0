"""What a fitted `ROCSVC` does: scores, labels, another threshold, files."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernbench.estimators._parameters import DTYPES
from kernbench.estimators._roc_features import Space
from kernbench.estimators._roc_parameters import check_threshold
from kernbench.estimators._roc_threshold import intercept_for
from kernbench.estimators._training_data import check_weights
from kernbench.kernels import blocks
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.functions import Kernel
from kernbench.saving import model_file
from kernbench.solvers.design import as_design
from kernbench.validation.rows import check_rows

KINDS = ("linear", "nystroem", "random", "exact")
CHUNK_VALUES = 2**23  # features held at a time


class RankingMixin:
    """Scores f(x) + intercept, from ``coef_`` of features, or from ``dual_coef_`` of support vectors.

    The estimator brings the parameters ``kernel`` and ``threshold`` and, when fitted, ``classes_``,
    ``kernel_``, ``dtype_``, ``features_``, ``feature_map_`` and ``intercept_``.
    """

    def _set_space(self, space):
        self.features_, self.kernel_, self.dtype_ = space.kind, space.kernel, space.dtype
        self.feature_map_ = space.map

    def _set_function(self, coef, X, rows):
        """Set the attributes that say what f is; `rows` are the indices of X's rows in the training set."""
        for name in ("coef_", "dual_coef_", "support_", "support_vectors_"):
            vars(self).pop(name, None)  # of an earlier fit, which may have been of the other kind
        if self.features_ != "exact":
            self.coef_ = coef[None, :]
            return
        own = np.flatnonzero(coef)
        self.support_ = (own if rows is None else rows[own]).astype(np.int32)
        self.dual_coef_ = coef[None, own]
        self.support_vectors_ = np.empty((0, 0)) if is_precomputed(self.kernel) else X[own]

    def decision_function(self, X):
        """Return the scores of rows: the larger, the more likely positive.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whichever ``fit`` saw; K(X, train) of shape (n_samples, n_train) if
            ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            f(x) + ``intercept_``, at least 0 where ``predict`` says ``classes_[1]``.
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=not is_precomputed(self.kernel))
        self._check_values(X)
        return self._scores(X) + self.intercept_[0]

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
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) >= 0).astype(np.intp)]

    def adjust_threshold(self, X, y, threshold, sample_weight=None):
        """Set ``intercept_`` by the scores of other rows than those of ``fit``; nothing else changes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For instance a set kept for validation.
        y : array-like of shape (n_samples,)
            Labels of both classes.
        threshold : "youden", float, ("sensitivity", s) or ("specificity", q)
            As the parameter of that name, which stays as it is.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_threshold(threshold)
        X, y = check_rows(self, X, y, reset=False, accept_sparse=not is_precomputed(self.kernel))
        self._check_values(X)
        if not (np.isin(y, self.classes_).all() and len(np.unique(y)) == 2):
            raise ValueError(f"y must hold both classes, {self.classes_.tolist()}, and no others")
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        positive = y == self.classes_[1]
        if weights is not None and not (weights[positive].any() and weights[~positive].any()):
            raise ValueError("all rows of one class have weight 0: the threshold is not defined")
        self._set_intercept(threshold, self._space().largest(X), self._scores(X), positive, weights)
        return self

    def _set_intercept(self, threshold, largest, scores, positive, weights):
        coef = self.dual_coef_ if self.features_ == "exact" else self.coef_
        rounding = self._space().rounding(largest, coef)
        self.intercept_ = np.array([intercept_for(threshold, scores, positive, weights, rounding)])

    def _check_values(self, X):
        check_range(X, self.kernel_, self.dtype_, feature_names=getattr(self, "feature_names_in_", None))

    def _space(self):
        return Space(self.features_, self.kernel_, self.dtype_, self.feature_map_)

    def _scores(self, X):
        """f of checked rows, shape (n_samples,)."""
        if self.features_ == "exact":
            return self._expansion(X)
        coef = self.coef_[0]
        if self.features_ == "linear":
            return as_design(X).scores(coef)
        scores, height = np.empty(X.shape[0]), max(1, CHUNK_VALUES // len(coef))
        for start in range(0, len(scores), height):
            rows = slice(start, start + height)
            scores[rows] = as_design(self.feature_map_.transform(X[rows])).scores(coef)
        return scores

    def _expansion(self, X):
        if is_precomputed(self.kernel):
            return X[:, self.support_] @ self.dual_coef_[0]
        if self.dual_coef_.shape[1] == 0:
            return np.zeros(X.shape[0])
        return blocks.matmul(self.kernel_, X, self.support_vectors_, self.dual_coef_[0], dtype=self.dtype_)

    def save(self, path):
        """Write the fitted model to a file that `kernbench.load` reads: arrays and plain data, no pickle.

        Parameters
        ----------
        path : str or Path
            Usually ends in ``.npz``. Written whole or not at all.

        Raises
        ------
        ValueError
            If the kernel is a Python function, which is not data.
        """
        model_file.save(self, path)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "intercept_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _check_fitted_state(self):
        """Raise ValueError unless the fitted attributes belong together: a file may be damaged."""
        _require(self.features_ in KINDS, f"features_ is {self.features_!r}")
        _require(isinstance(self.kernel_, Kernel), "kernel_ is not a kernel")
        _require(self.dtype_ in DTYPES[1:], f"dtype_ is {self.dtype_!r}")
        _require(
            np.shape(self.classes_) == (2,) and self.classes_[0] < self.classes_[1], "classes_ are not two"
        )
        _require(
            np.shape(self.intercept_) == (1,) and np.isfinite(self.intercept_[0]), "intercept_ is no number"
        )
        needs_map = self.features_ in ("nystroem", "random")
        _require(needs_map == (self.feature_map_ is not None), "feature_map_ and features_ do not agree")
        if self.features_ == "exact":
            self._check_expansion()
        else:
            width = len(self.feature_map_.get_feature_names_out()) if needs_map else self.n_features_in_
            _check_vector("coef_", self.coef_, width)
        names = getattr(self, "feature_names_in_", None)
        _require(names is None or len(names) == self.n_features_in_, "feature_names_in_ has another length")

    def _check_expansion(self):
        n_support = len(self.support_)
        _check_vector("dual_coef_", self.dual_coef_, n_support)
        _require(
            self.support_.shape == (n_support,) and self.support_.dtype.kind == "i", "support_ are no indices"
        )
        _require(np.all(self.support_ >= 0), "support_ has negative indices")
        expected = (0, 0) if is_precomputed(self.kernel) else (n_support, self.n_features_in_)
        _require(
            self.support_vectors_.shape == expected, f"support_vectors_ does not have the shape {expected}"
        )
        if is_precomputed(self.kernel):
            _require(np.all(self.support_ < self.n_features_in_), "support_ has indices past the end")


def _check_vector(name, value, width):
    _require(value.shape == (1, width), f"{name} has shape {value.shape}, not {(1, width)}")
    _require(value.dtype == np.float64 and np.all(np.isfinite(value)), f"{name} is not finite")


def _require(condition, what):
    if not condition:
        raise ValueError(what)
