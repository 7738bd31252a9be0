"""Checks of models read from files, which may be damaged or manipulated.

Prediction must not read past the end of an array because of such a file. Each check raises a ValueError.
"""

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments.parameters import DTYPES
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.functions import Kernel


def require(condition, what):
    """Raise ValueError with the message `what` unless the condition holds."""
    if not condition:
        raise ValueError(what)


def check_classes(model):
    """Check ``classes_`` and ``feature_names_in_``."""
    classes = model.classes_
    require(np.ndim(classes) == 1 and len(classes) >= 2, "classes_ is not an array of labels")
    require(np.all(classes[:-1] < classes[1:]), "classes_ are not sorted labels")
    check_names(model)


def check_names(model):
    """Check ``feature_names_in_``."""
    names = getattr(model, "feature_names_in_", None)
    require(names is None or len(names) == model.n_features_in_, "feature_names_in_ does not have n_features_in_ names")


def check_kernel_state(model):
    """Check ``kernel_`` and ``dtype_``; make ``shape_fit_``, a list in older files, a tuple."""
    require(isinstance(model.kernel_, Kernel), "kernel_ is not a kernel")
    require(model.dtype_ in DTYPES[1:], f"dtype_ is {model.dtype_!r}")
    if hasattr(model, "shape_fit_"):  # not in files of earlier versions, nor after a stream
        model.shape_fit_ = tuple(model.shape_fit_)


def check_floats(model, shapes):
    """Check that the attributes have these shapes, and finite floating-point entries."""
    for name, shape in shapes.items():
        value = getattr(model, name)
        require(np.shape(value) == shape, f"{name} has shape {np.shape(value)}, not {shape}")
        entries = value.data if sparse.issparse(value) else value
        require(entries.dtype in (np.float32, np.float64), f"{name} has dtype {entries.dtype}")
        require(np.all(np.isfinite(entries)), f"{name} is not finite")


def check_support(model):
    """Check ``support_`` and ``support_vectors_``."""
    precomputed, n_support = is_precomputed(model.kernel_), len(model.support_)
    require(
        np.shape(model.support_) == (n_support,) and model.support_.dtype.kind in "iu",
        "support_ is not an array of indices",
    )
    require(np.all(model.support_ >= 0), "support_ has negative indices")
    if precomputed:
        require(np.all(model.support_ < model.n_features_in_), "support_ has indices past the end")
    check_floats(model, {"support_vectors_": (0, 0) if precomputed else (n_support, model.n_features_in_)})


def check_centre(model):
    """Check ``centre_``, which files of earlier versions lack."""
    model.centre_ = getattr(model, "centre_", None)
    if model.centre_ is not None:
        check_floats(model, {"centre_": (model.n_features_in_,)})


def check_expansion(model, n_rows, n_problems):
    """Check the attributes of an `ExpansionClassifier`.

    Parameters
    ----------
    model : estimator
    n_rows : int
        Of ``dual_coef_``.
    n_problems : int
    """
    check_classes(model)
    check_kernel_state(model)
    check_support(model)
    check_centre(model)
    check_floats(model, {"dual_coef_": (n_rows, len(model.support_)), "intercept_": (n_problems,)})
    n_support = model.n_support_
    require(
        np.shape(n_support) == (len(model.classes_),) and n_support.dtype.kind in "iu",
        "n_support_ is not one number for each class",
    )
    require(np.all(n_support >= 0) and n_support.sum() == len(model.support_), "n_support_ does not add up")
