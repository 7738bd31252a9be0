"""Is a fitted model whole? Asked of models that come out of files."""

import numpy as np
from scipy import sparse

from kernbench.estimators._parameters import DTYPES, check_kernel_svc
from kernbench.kernels.domain import is_precomputed
from kernbench.kernels.functions import Kernel


def check_kernel_svc_state(model):
    """Raise ValueError unless the fitted attributes of a `KernelSVC` belong together.

    A file may be damaged, or made by somebody else; prediction must not read past the end of an array for it.
    """
    check_kernel_svc(model)
    n_classes = len(model.classes_)
    n_support = len(model.support_)
    n_features = model.n_features_in_
    vectors = (0, 0) if is_precomputed(model.kernel) else (n_support, n_features)
    # Three and more classes: the layout of the coefficients tells one against one from one against the rest.
    against_rest = n_classes > 2 and len(model.dual_coef_) == n_classes
    shapes = {
        "classes_": (n_classes,),
        "support_": (n_support,),
        "n_support_": (n_classes,),
        "dual_coef_": (n_classes if against_rest else n_classes - 1, n_support),
        "intercept_": (n_classes if against_rest else n_classes * (n_classes - 1) // 2,),
        "support_vectors_": vectors,
    }
    for name, shape in shapes.items():
        if np.shape(getattr(model, name)) != shape:
            raise ValueError(f"{name} has shape {np.shape(getattr(model, name))}, not {shape}")
    for name, kinds in {"support_": "iu", "n_support_": "iu", "dual_coef_": "f", "intercept_": "f"}.items():
        if getattr(model, name).dtype.kind not in kinds:
            raise ValueError(f"{name} has dtype {getattr(model, name).dtype}")
    _require(
        n_classes >= 2 and np.all(model.classes_[:-1] < model.classes_[1:]), "classes_ are not sorted labels"
    )
    _require(
        np.all(model.n_support_ >= 0) and model.n_support_.sum() == n_support, "n_support_ does not add up"
    )
    _require(np.all(np.isfinite(model.dual_coef_)) and np.all(np.isfinite(model.intercept_)), "not finite")
    _require(np.all(model.support_ >= 0), "support_ has negative indices")
    if is_precomputed(model.kernel):
        _require(np.all(model.support_ < n_features), "support_ has indices past the end")
    X = model.support_vectors_
    _require(X.dtype in (np.float32, np.float64), f"support_vectors_ has dtype {X.dtype}")
    _require(np.all(np.isfinite(X.data if sparse.issparse(X) else X)), "support_vectors_ is not finite")
    names = getattr(model, "feature_names_in_", None)
    _require(
        names is None or len(names) == n_features, "feature_names_in_ does not have n_features_in_ names"
    )
    _require(isinstance(model.kernel_, Kernel), "kernel_ is not a kernel")
    _require(model.dtype_ in DTYPES[1:], f"dtype_ is {model.dtype_!r}")


def _require(condition, what):
    if not condition:
        raise ValueError(what)
