"""Are the parameters sensible? Every refusal is a ValueError that says what would be."""

import numpy as np

from kernbench.estimators.multiclass import ONE_VS_REST, SCHEMES
from kernbench.kernels.names import NAMES, resolve_gamma
from kernbench.losses.margin import margin_loss
from kernbench.solvers import registry
from kernbench.validation.numbers import check_name, check_positive, is_integer, is_number

GAMMAS = ("scale", "auto", "median")
DTYPES = ("auto", "float32", "float64")
SHAPES = ("ovr", "ovo")
AUTO_DOUBLE_ROWS = 2000  # dtype="auto": float64 for at most this many rows, where its price is not felt


def check_kernel_svc(model):
    """Check the parameters of a `KernelSVC` and return the registry's entry of its solver.

    Raises
    ------
    ValueError
        For the first parameter that is out of its range; for a wrong name, the message says the nearest.
    """
    entry = registry.get(model.solver, "kernel-svm")
    check_positive("C", model.C)
    check_margin_loss(model.loss, entry)
    check_kernel(model)
    check_run(model)
    check_name("multi_class", model.multi_class, SCHEMES)
    check_name("decision_function_shape", model.decision_function_shape, SHAPES)
    if model.multi_class == ONE_VS_REST and model.decision_function_shape != "ovr":
        raise ValueError("decision_function_shape='ovo' gives values of pairs: it needs multi_class='ovo'")
    check_n_jobs(model.n_jobs)
    check_class_weight(model.class_weight)
    return entry


def check_margin_loss(loss, entry):
    """Refuse a loss that the solver of `entry` does not minimise; the message names those that do."""
    margin_loss(loss)
    if loss in entry.losses:
        return
    others = [
        repr(other.name)
        for other in registry.SOLVERS
        if other.problem == entry.problem and loss in other.losses
    ]
    remedy = f"solver={' or '.join(others)}" if others else "no solver of this problem"
    raise ValueError(
        f"solver={entry.name!r} minimises loss={' or '.join(map(repr, entry.losses))} only; "
        f"loss={loss!r} is offered by {remedy}"
    )


def check_run(model):
    """Check the parameters of any fit: tolerance, limits, precision, options, callbacks; memory if it has a cache."""
    check_positive("tol", model.tol)
    if hasattr(model, "cache_size"):
        check_positive("cache_size", model.cache_size, unit=" of megabytes")
    if model.max_seconds is not None:
        check_positive("max_seconds", model.max_seconds, unit=" of seconds, or None")
    if not is_integer(model.max_iter) or (model.max_iter < 1 and model.max_iter != -1):
        raise ValueError(f"max_iter must be a positive integer, or -1 for no limit, got {model.max_iter!r}")
    check_name("dtype", model.dtype, DTYPES)
    if model.solver_options is not None and not isinstance(model.solver_options, dict):
        raise ValueError(f"solver_options must be a dict of options or None, got {model.solver_options!r}")
    for callback in callbacks_of(model):
        if not callable(callback):
            raise ValueError(f"callback must be a function or a list of functions, got {callback!r}")


def check_kernel(model):
    """Check the parameters that tell the kernel."""
    if isinstance(model.kernel, str):
        check_name("kernel", model.kernel, NAMES)
    if isinstance(model.gamma, str):
        check_name("gamma", model.gamma, GAMMAS)
    else:
        resolve_gamma(model.gamma, None)
    if model.kernel == "sigmoid" and not is_number(model.coef0):
        raise ValueError(f"coef0 must be a finite number, got {model.coef0!r}")
    if model.kernel in ("poly", "polynomial"):
        if not is_integer(model.degree) or model.degree < 1:
            raise ValueError(f"degree must be a positive integer, got {model.degree!r}")
        if not (is_number(model.coef0) and model.coef0 >= 0):
            raise ValueError(
                f"coef0 must be at least 0 (the kernel is indefinite below), got {model.coef0!r}"
            )


def check_n_jobs(n_jobs):
    """Refuse what is no number of threads."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of threads, -1 for all cores, or None, got {n_jobs!r}")


def check_class_weight(class_weight):
    """Refuse what gives classes no weights."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a dict of class to weight, got {class_weight!r}"
        )
    for label, weight in class_weight.items():
        if not (is_number(weight) and weight >= 0):
            raise ValueError(f"class_weight of class {label!r} must be at least 0, got {weight!r}")


def callbacks_of(model):
    """The parameter ``callback`` as a list of functions."""
    if model.callback is None:
        return []
    return list(model.callback) if isinstance(model.callback, list | tuple) else [model.callback]


def precision(dtype, n_rows):
    """The name of the precision of kernel values that ``dtype=`` means for `n_rows` training rows."""
    if dtype != "auto":
        return dtype
    return "float64" if n_rows <= AUTO_DOUBLE_ROWS else "float32"


def iteration_limit(model, entry, n_rows):
    """Iterations that ``max_iter=`` allows a problem of `n_rows` rows, or None for no limit."""
    if model.max_iter != -1:
        return int(model.max_iter)
    return entry.iteration_limit(n_rows)


def alpha_grid(alphas, name="alphas"):
    """Return several regularisations as an array, checked: at least one, all positive."""
    try:
        values = np.asarray(alphas, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or len(values) == 0 or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(f"{name} must be a list of positive numbers, got {alphas!r}")
    return values
