"""Checks of the parameters that every fit has; each raises a ValueError that says what to change."""

from numbers import Real

import numpy as np

from kernbench.validation.numbers import check_flag, check_name, check_number, check_positive, is_integer, is_number

DTYPES = ("auto", "float32", "float64")
MOST_CACHE = 1e12  # megabytes; in bytes still an integer of 64 bits
AUTO_DOUBLE_ROWS = 2000  # dtype="auto": float64 for at most this many rows, where it costs almost nothing


def check_run(model):
    """Check limits, precision, options and callbacks, and the tolerance and the memory for values if it has any."""
    if hasattr(model, "tol"):
        check_positive("tol", model.tol)
    if hasattr(model, "cache_size"):
        check_number("cache_size", model.cache_size, above=0, at_most=MOST_CACHE, unit=" of megabytes")
    if hasattr(model, "warm_start"):
        check_flag("warm_start", model.warm_start)
    check_verbose(model.verbose)
    if model.max_seconds is not None:
        check_positive("max_seconds", model.max_seconds, unit=" of seconds, or None")
    if not is_integer(model.max_iter) or (model.max_iter < 1 and model.max_iter != -1):
        raise ValueError(f"max_iter must be a positive integer, or -1 for the default limit, got {model.max_iter!r}")
    check_name("dtype", model.dtype, DTYPES)
    if model.solver_options is not None and not isinstance(model.solver_options, dict):
        raise ValueError(f"solver_options must be a dict of options or None, got {model.solver_options!r}")
    for callback in callbacks_of(model):
        if not callable(callback):
            raise ValueError(f"callback must be a function or a list of functions, got {callback!r}")


def check_verbose(verbose):
    """Raise ValueError unless `verbose` is True, False or an integer of at least 0."""
    if not isinstance(verbose, bool | np.bool_) and not (is_integer(verbose) and verbose >= 0):
        raise ValueError(f"verbose must be 0, or 1 for a progress bar, got {verbose!r}")


def check_strength(name, value):
    """Raise ValueError unless C or alpha is a positive number; say what stands for the infinite C of `SVC`."""
    if name == "C" and isinstance(value, Real) and value == np.inf:
        raise ValueError(
            "C must be a positive finite number, got inf: for a hard margin pass a large one, such as 1e10; converged_ "
            "and the training error say whether there is such a margin"
        )
    check_positive(name, value)


def check_n_jobs(n_jobs):
    """Raise ValueError unless `n_jobs` is a number of threads, -1 or None."""
    if n_jobs is not None and (not is_integer(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a number of threads, -1 for all cores, or None, got {n_jobs!r}")


def check_class_weight(class_weight):
    """Raise ValueError unless `class_weight` is None, "balanced" or a dict of weights of at least 0."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of class to weight, got {class_weight!r}")
    for label, weight in class_weight.items():
        if not (is_number(weight) and weight >= 0):
            raise ValueError(f"class_weight of class {label!r} must be a finite number of at least 0, got {weight!r}")


def check_grid(name, values):
    """Return the strengths of a path as an array; raise ValueError unless it is a non-empty list of positive
    numbers."""
    try:
        grid = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or len(grid) == 0 or not np.all(np.isfinite(grid) & (grid > 0)):
        raise ValueError(f"{name} must be a list of positive numbers, got {values!r}")
    return grid


def callbacks_of(model):
    """Return the parameter ``callback`` as a list of functions."""
    if model.callback is None:
        return []
    return list(model.callback) if isinstance(model.callback, list | tuple) else [model.callback]


def precision(dtype, n_rows, most_double_rows=AUTO_DOUBLE_ROWS):
    """Return the name of the precision that ``dtype=`` stands for with `n_rows` training rows."""
    if dtype != "auto":
        return dtype
    return "float64" if n_rows <= most_double_rows else "float32"
