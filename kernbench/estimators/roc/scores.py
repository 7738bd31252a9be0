"""A classifier that ranks: scores, labels, another threshold."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernbench._typing import Rows
from kernbench.estimators.arguments.training_data import check_weights
from kernbench.estimators.base import KernelClassifier
from kernbench.estimators.fit.fitted_state import (
    check_classes,
    check_floats,
    check_kernel_state,
    check_support,
    require,
)
from kernbench.estimators.roc.parameters import DEFAULT_CHOICE, check_threshold
from kernbench.estimators.roc.space import KINDS, Space
from kernbench.estimators.roc.threshold import intercept_for
from kernbench.kernels import blocks
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.solvers.design import as_design
from kernbench.validation.rows import check_rows

CHUNK_VALUES = 2**23  # features held at a time


def set_space(model, space):
    """Set the attributes that define the space of f."""
    model.features_, model.kernel_, model.dtype_ = space.kind, space.kernel, space.dtype
    model.feature_map_ = space.map


def space_of(model):
    """Return the space of a fitted model."""
    return Space(model.features_, model.kernel_, model.dtype_, model.feature_map_)


def set_function(model, coef, X=None, rows=None):
    """Set the attributes that define f; without features from the rows X, of which `rows` are the indices in the
    training set, None for all."""
    for name in ("coef_", "feature_coef_", "dual_coef_", "support_", "support_vectors_"):
        vars(model).pop(name, None)  # of an earlier fit in another kind of space
    if model.features_ != "exact":
        setattr(model, _name_of_weights(model), coef[None, :])
        return
    own = np.flatnonzero(coef)
    model.support_ = (own if rows is None else rows[own]).astype(np.int32)
    model.dual_coef_ = coef[None, own]
    model.support_vectors_ = np.empty((0, 0)) if is_precomputed(model.kernel) else X[own]


def _name_of_weights(model):
    return "coef_" if model.features_ == "linear" else "feature_coef_"


def weights_of(model):
    """Return the weights of the columns of X or of the features, shape (n_columns,)."""
    return getattr(model, _name_of_weights(model))[0]


def set_intercept(model, threshold, largest, scores, positive, weights):
    """Set ``intercept_`` by the scores of rows; `largest` returns their largest k(x, x)."""

    def rounding():
        coef = model.dual_coef_[0] if model.features_ == "exact" else weights_of(model)
        return space_of(model).rounding(largest(), coef)

    model.intercept_ = np.array([intercept_for(threshold, scores, positive, weights, rounding)])


def scores_of(model, X):
    """Return f of checked rows, shape (n_samples,)."""
    if model.features_ == "exact":
        return _expansion(model, X)
    coef = weights_of(model)
    if model.features_ == "linear":
        return as_design(X).scores(coef)
    scores, height = np.empty(X.shape[0]), max(1, CHUNK_VALUES // len(coef))
    for start in range(0, len(scores), height):
        rows = slice(start, start + height)
        scores[rows] = as_design(model.feature_map_._features_of(X[rows])).scores(coef)
    return scores


def _expansion(model, X):
    if is_precomputed(model.kernel_):
        return X[:, model.support_] @ model.dual_coef_[0]
    if model.dual_coef_.shape[1] == 0:
        return np.zeros(X.shape[0])
    return blocks.matmul(model.kernel_, X, model.support_vectors_, model.dual_coef_[0], dtype=model.dtype_)


class SpaceModel:
    """A function f of a space of columns, features or a kernel, from weights or from ``dual_coef_``.

    The estimator has the parameter ``kernel`` and, when fitted, ``kernel_``, ``dtype_``, ``features_``,
    ``feature_map_`` and ``intercept_``.
    """

    features_: str
    feature_map_: Any
    feature_coef_: np.ndarray
    coef_: np.ndarray
    loss_: str
    validation_score_: float
    best_n_iter_: int
    subproblem_gap_: float

    _default_landmarks = DEFAULT_CHOICE

    def _scores(self, X):
        """Return f(x) + intercept of the rows of X, checked here."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False, accept_sparse=not is_precomputed(self.kernel_))
        self._check_range(X)
        return scores_of(self, X) + self.intercept_[0]

    def _check_range(self, X):
        check_range(X, self.kernel_, self.dtype_, feature_names=getattr(self, "feature_names_in_", None))

    def _check_fitted_state(self):
        require(self.features_ in KINDS, f"features_ is {self.features_!r}")
        check_kernel_state(self)
        needs_map = self.features_ in ("nystroem", "random")
        require(needs_map == (self.feature_map_ is not None), "feature_map_ and features_ do not agree")
        shapes = {"intercept_": (1,)}
        if self.features_ == "exact":
            check_support(self)
            shapes["dual_coef_"] = (1, len(self.support_))
        elif needs_map:
            shapes["feature_coef_"] = (1, len(self.feature_map_.get_feature_names_out()))
        else:
            shapes["coef_"] = (1, self.n_features_in_)
        check_floats(self, shapes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")


class TwoClassModel(SpaceModel, KernelClassifier):
    """A classifier of two classes by the sign of f(x) + intercept; it has ``classes_``."""

    def decision_function(self, X: Rows) -> np.ndarray:
        """Return the scores of rows: the larger, the more likely positive.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            Dense or sparse, whatever ``fit`` was given; K(X, train) of shape (n_samples, n_train) if
            ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,), float64
            f(x) + ``intercept_``, at least 0 where ``predict`` says ``classes_[1]``.
        """
        return self._scores(X)

    def predict(self, X: Rows) -> np.ndarray:
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
        return self.classes_[(self._scores(X) >= 0).astype(np.intp)]

    def _check_fitted_state(self):
        super()._check_fitted_state()
        check_classes(self)
        require(len(self.classes_) == 2, "classes_ are not two")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RankingClassifier(TwoClassModel):
    """A classifier that ranks; its intercept is set by the parameter ``threshold``."""

    def adjust_threshold(
        self, X: Rows, y: ArrayLike, threshold: str | float | tuple[str, float], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Set ``intercept_`` by the scores of rows other than those of ``fit``; nothing else changes.

        Parameters
        ----------
        X : {array-like, CSR matrix} of shape (n_samples, n_features)
            For instance a validation set.
        y : array-like of shape (n_samples,)
            Labels of both classes.
        threshold : "youden", float, ("sensitivity", s) or ("specificity", q)
            As the parameter of that name, which is not changed.
        sample_weight : array-like of shape (n_samples,), default=None
            At least 0.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        threshold = self._threshold(threshold)
        X, y = check_rows(self, X, y, reset=False, accept_sparse=not is_precomputed(self.kernel_))
        self._check_range(X)
        if not (np.isin(y, self.classes_).all() and len(np.unique(y)) == 2):
            raise ValueError(f"y must hold both classes, {self.classes_.tolist()}, and no others")
        weights = None if sample_weight is None else check_weights(sample_weight, X)
        positive = y == self.classes_[1]
        if weights is not None and not (weights[positive].any() and weights[~positive].any()):
            raise ValueError("all rows of one class have weight 0: the threshold is not defined")
        set_intercept(self, threshold, lambda: space_of(self).largest(X), scores_of(self, X), positive, weights)
        return self

    def _threshold(self, threshold):
        """Return the threshold that a parameter means, checked."""
        check_threshold(threshold)
        return threshold
