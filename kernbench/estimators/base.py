"""What all estimators here have in common: model files and tags."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernbench._callbacks import CallbackSupport
from kernbench._whole_fits import WholeFits
from kernbench.kernels.domain import is_precomputed, takes_no_negative
from kernbench.kernels.nested import NestedKernel
from kernbench.saving.model_file import Saved


class Model(WholeFits, CallbackSupport, Saved, NestedKernel, BaseEstimator):
    """An estimator that can be saved, takes sparse rows and reports to scikit-learn's callbacks.

    Most fitted attributes are set by functions of the fit, where type checkers do not look: classes declare them.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray
    n_iter_: np.ndarray
    n_kernel_evaluations_: int
    converged_: bool
    fit_status_: int
    status_: Any  # this, the trace, objectives and gaps are lists and arrays for several problems
    trace_: Any
    objective_: Any
    duality_gap_: Any

    _twin = "compiled"  # "reference" in the tests that compare the two

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = takes_no_negative(getattr(self, "kernel", None))
        return tags


class Classifier(ClassifierMixin, Model):
    """A classifier that can be saved and takes sparse rows."""

    classes_: np.ndarray


class KernelModel(Model):
    """An estimator with a parameter ``kernel``, which may be precomputed."""

    kernel_: Any
    dtype_: str
    intercept_: Any
    support_: np.ndarray
    support_vectors_: Any
    dual_coef_: np.ndarray

    def support_only(self) -> Any:
        """Return a copy that predicts from the kernel values of the support vectors only, for a precomputed kernel.

        The fitted model predicts from ``K``, of shape (n_samples, n_train); the copy makes the same predictions from
        ``K[:, support_]``, in that order. Kernel values of other training rows need not be computed.

        Returns
        -------
        estimator
            Its ``support_`` is 0, 1, …; it shares the other arrays with this model. With ``features="nystroem"``,
            landmarks take the place of support vectors: ``feature_map_.landmark_indices_``.

        Raises
        ------
        ValueError
            For a kernel that is computed from rows, and for a model without support vectors.
        """
        check_is_fitted(self)
        if not is_precomputed(self.kernel_):
            raise ValueError("support_only is for kernel='precomputed': with other kernels, models predict from rows")
        feature_map = getattr(self, "feature_map_", None)
        if feature_map is None:
            return _with_columns(self, "support_")
        narrow = _with_columns(feature_map, "landmark_indices_")
        model = copy(self)
        model.feature_map_, model.n_features_in_ = narrow, narrow.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_[feature_map.landmark_indices_]
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


class KernelClassifier(ClassifierMixin, KernelModel):
    """A classifier with a parameter ``kernel``, which may be precomputed."""

    classes_: np.ndarray


class KernelRegressor(RegressorMixin, KernelModel):
    """A regressor with a parameter ``kernel``, which may be precomputed."""


def _with_columns(fitted, name):
    """Return a shallow copy of a model of which the columns in attribute `name` are all there are."""
    columns = getattr(fitted, name)
    if len(columns) == 0:
        raise ValueError("the model has no support vectors: it predicts its intercept_ for every row")
    narrow = copy(fitted)
    setattr(narrow, name, np.arange(len(columns), dtype=columns.dtype))
    narrow.n_features_in_ = len(columns)
    if hasattr(fitted, "feature_names_in_"):
        narrow.feature_names_in_ = fitted.feature_names_in_[columns]
    return narrow
