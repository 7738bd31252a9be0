"""Kernel objects from names and parameters: `kernel="rbf", gamma="scale"`."""

import numpy as np

from kernbench._names import unknown_name
from kernbench.kernels.bandwidth import median_distance, representable, scale
from kernbench.kernels.engine._engine import ROUTINES
from kernbench.kernels.functions import (
    Callable,
    ChiSquared,
    Cosine,
    ExponentialChiSquared,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from kernbench.validation.numbers import check_number, is_number

NAMES = (
    *("rbf", "gaussian", "laplacian", "chi2", "additive_chi2"),
    *("poly", "polynomial", "sigmoid", "linear", "cosine", "precomputed"),
)

OF_GAMMA = ("rbf", "gaussian", "laplacian", "chi2", "poly", "polynomial", "sigmoid")  # have that parameter


def resolve_gamma(gamma, X, random_state=None, *, metric="euclidean"):
    """Return scikit-learn's gamma as a positive float.

    Parameters
    ----------
    gamma : {"scale", "auto", "median"} or float
        ``"scale"`` is 1 / (d · variance of X), ``"auto"`` 1 / d. ``"median"`` makes the length scale of the kernel the
        median distance s between rows of a random subset of 2,000: 1 / (2 s²) for Euclidean distances (so that a
        Gaussian has sigma = s), 1 / s for l1 distances (a Laplacian).
    X : ndarray or CSR matrix of shape (n, d)
    random_state : int, Generator or None
        Draws the subset of ``"median"``.
    metric : {"euclidean", "l1"}, default="euclidean"
        The distances that the kernel depends on.

    Raises
    ------
    ValueError
        For an unknown name, a number that is not positive, or rows whose variance or distances are too small or too
        large to be represented.
    """
    if isinstance(gamma, str):
        if gamma == "auto":
            return 1.0 / X.shape[1]
        if gamma == "scale":
            return representable(scale(X), gamma)
        if gamma == "median":
            median = median_distance(X, metric=metric, random_state=random_state)
            if metric == "l1":
                return representable(1.0 / median, gamma)
            # Beyond these, which are refused alike, the square is 0 or no number.
            return representable(0.5 / min(max(median, 1e-160), 1e154) ** 2, gamma)
        raise ValueError(unknown_name("gamma", gamma, ("scale", "auto", "median")))
    if not (is_number(gamma) and gamma > 0):
        raise ValueError(f"gamma must be 'scale', 'auto', 'median' or a positive number, got {gamma!r}")
    if gamma < np.finfo(np.float64).tiny:
        raise ValueError(f"gamma={gamma:g} is too small: its inverse, the width of the kernel, is infinite")
    return float(gamma)


def check_shape(kernel, degree, coef0):
    """Raise ValueError for a degree or coef0 that no kernel has, or not the one of this name."""
    is_polynomial = isinstance(kernel, str) and kernel in ("poly", "polynomial")
    check_number("degree", degree, at_least=1 if is_polynomial else 0, whole=True)  # SVC takes 0, too
    if not is_number(coef0):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}")
    if is_polynomial and coef0 < 0:
        raise ValueError(f"coef0 must be at least 0 (the kernel is indefinite below), got {coef0!r}")


def refuse_class(kernel):
    """Raise ValueError for the class of a kernel in place of an object, and for one without a compiled routine.

    The compiled loops know a kernel by its routine, and would compute the values of the class that it is derived from.
    """
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        name = kernel.__name__
        raise ValueError(f"kernel={name} is a class: pass a kernel object, {name}(...) with its parameters")
    if isinstance(kernel, Kernel) and type(kernel).__call__ is not Kernel.__call__:
        raise ValueError(
            f"{type(kernel).__name__} has a __call__ of its own, which the compiled loops do not ask: pass a Python "
            "function f(X, Z) -> matrix as kernel instead"
        )
    if isinstance(kernel, Kernel) and getattr(kernel, "routine", None) not in ROUTINES:
        raise ValueError(
            f"{type(kernel).__name__} names no compiled routine that computes its values: pass a Python function "
            "f(X, Z) -> matrix as kernel instead"
        )


def resolve_kernel(kernel, X, *, gamma="scale", degree=3, coef0=0.0, random_state=None):
    """Return the kernel object that `kernel` stands for.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of `NAMES`, a kernel object (then `gamma`, `degree` and `coef0` are ignored), or a function
        ``f(X, Z) -> matrix``.
    X : ndarray or CSR matrix of shape (n, d), or None
        Training rows, for kernels `OF_GAMMA` with a name as gamma.
    gamma, degree, coef0
        As in scikit-learn: ``rbf`` exp(-gamma ||x-z||²), ``laplacian`` exp(-gamma ||x-z||_1),
        ``chi2`` exp(-gamma sum_j (x_j-z_j)²/(x_j+z_j)), ``poly`` (gamma <x,z> + coef0)^degree,
        ``sigmoid`` tanh(gamma <x,z> + coef0), ``cosine`` <x,z> / (||x|| ||z||). ``additive_chi2`` is sum_j
        4 x_j z_j/(x_j+z_j), scikit-learn's plus sum_j (x_j+z_j): positive semi-definite, and with an intercept the same
        functions.
    random_state : int, Generator or None
        For ``gamma="median"``.

    Raises
    ------
    ValueError
        For an unknown name (the message suggests the nearest) or a parameter out of its range.
    """
    refuse_class(kernel)
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        if callable(kernel):
            return Callable(kernel)
        raise ValueError(f"kernel must be a name, a kernel object or a function, got {kernel!r}")
    check_shape(kernel, degree, coef0)
    if kernel in ("rbf", "gaussian"):
        return Gaussian(float(np.sqrt(0.5 / resolve_gamma(gamma, X, random_state))))
    if kernel == "laplacian":
        return Laplacian(1.0 / resolve_gamma(gamma, X, random_state, metric="l1"))
    if kernel == "chi2":
        return ExponentialChiSquared(resolve_gamma(gamma, X, random_state))
    if kernel == "additive_chi2":
        return 2.0 * ChiSquared()
    if kernel in ("poly", "polynomial"):
        return Polynomial(degree, coef0, resolve_gamma(gamma, X, random_state))
    if kernel == "sigmoid":
        return Sigmoid(resolve_gamma(gamma, X, random_state), coef0)
    if kernel == "linear":
        return Linear()
    if kernel == "cosine":
        return Cosine()
    if kernel == "precomputed":
        return Precomputed()
    raise ValueError(unknown_name("kernel", kernel, NAMES))
