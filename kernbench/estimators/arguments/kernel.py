"""The kernel object of an estimator, from its parameters and training rows."""

import numpy as np
from scipy import sparse

from kernbench.kernels.bandwidth import check_variance, has_unequal_entries, is_spread
from kernbench.kernels.domain import check_range, largest_entry
from kernbench.kernels.functions import Callable, Linear
from kernbench.kernels.names import NAMES, OF_GAMMA, check_shape, refuse_class, resolve_gamma, resolve_kernel
from kernbench.validation.numbers import check_name
from kernbench.validation.objects import function_rows

GAMMAS = ("scale", "auto", "median")
ASYMMETRY = 1e-3  # share of the largest value; functions may compute in half precision


def check_kernel(model):
    """Check the parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``."""
    refuse_class(model.kernel)
    if isinstance(model.kernel, str):
        check_name("kernel", model.kernel, NAMES)
    if isinstance(model.gamma, str):
        check_name("gamma", model.gamma, GAMMAS)
    else:
        resolve_gamma(model.gamma, None)
    check_shape(model.kernel, model.degree, model.coef0)


def kernel_of(model, X, sample_weight, seed):
    """Return the kernel object that the model's parameters specify for training rows X.

    A row of weight k counts k times, and one of weight 0 not at all, so that weighting and repeating rows
    give the same model; but in ``gamma="median"`` each row of positive weight counts once.

    Parameters
    ----------
    model : estimator
        Has ``dtype_`` already.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    sample_weight : ndarray of shape (n_samples,), or None
    seed : int
        For ``gamma="median"``.

    Raises
    ------
    ValueError
        If X is too large for the kernel, or a Python function does not return a kernel matrix.
    """
    gamma, largest, names = model.gamma, None, getattr(model, "feature_names_in_", None)
    shape = {"degree": model.degree, "coef0": model.coef0}
    has_gamma = isinstance(model.kernel, str) and model.kernel in OF_GAMMA
    if has_gamma and isinstance(gamma, str):
        largest = largest_entry(X)
        # First: the variance of "scale" may overflow, too.
        check_range(X, Linear(), model.dtype_, feature_names=names, largest=largest)
        if sample_weight is not None:
            if gamma == "scale":
                gamma = weighted_scale(X, sample_weight)
            elif np.any(sample_weight == 0):
                X = X[sample_weight > 0]
    kernel = resolve_kernel(model.kernel, X if has_gamma else None, gamma=gamma, random_state=seed, **shape)
    check_range(X, kernel, model.dtype_, feature_names=names, largest=largest)
    if isinstance(kernel, Callable):
        _check_function(kernel.function, X)
    return kernel


@np.errstate(over="ignore", invalid="ignore")  # a variance that overflows is refused
def weighted_scale(X, weights):
    """Return 1 / (d · variance of X), entries of row i counting weights[i] times."""
    n_entries = weights.sum() * X.shape[1]
    if sparse.issparse(X):
        wide = X.astype(np.float64)
        mean = (weights @ wide).sum() / n_entries
        variance = (weights @ wide.power(2)).sum() / n_entries - mean**2
        if not mean**2 <= variance:  # the difference loses digits: two passes
            n_stored = np.diff(wide.indptr)
            each, of_zeros, centred = np.repeat(weights, n_stored), weights @ (X.shape[1] - n_stored), wide.data - mean
            variance = (each @ np.square(centred) + of_zeros * mean**2) / n_entries
            variance -= ((each @ centred - of_zeros * mean) / n_entries) ** 2
    else:
        mean = (weights @ X).sum() / n_entries
        centred = X - mean
        variance = (weights @ np.square(centred)).sum() / n_entries
        variance -= ((weights @ centred).sum() / n_entries) ** 2  # the rounding of the mean
    check_variance(variance, mean, lambda: has_unequal_entries(X[weights > 0]))
    return 1.0 / (X.shape[1] * variance) if is_spread(variance, mean) else 1.0


def _check_function(function, X):
    """Call a kernel function on a few rows and check the shape of what it returns, and whether it is symmetric."""
    few, more = function_rows(X[:2]), function_rows(X[:3])
    try:
        values = function(few, more)
    except Exception as error:
        raise ValueError(
            f"the kernel function raised {type(error).__name__} for arrays of {few.shape[0]} and {more.shape[0]} rows: "
            f"{error}. It is called with two arrays of rows, not with two rows, and must return the matrix of k(x, z)"
        ) from error
    shape = np.shape(values)
    if shape != (few.shape[0], more.shape[0]):
        raise ValueError(
            "a kernel function must return the matrix of k(x, z) for all rows of its two arguments: expected "
            f"shape {(few.shape[0], more.shape[0])}, got {shape}"
        )
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if shape[0] < 2 or values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        return  # what these are is said where all values are checked
    (first, there), (back, second) = values[:, :2].astype(np.float64)
    if abs(there - back) > ASYMMETRY * max(map(abs, (first, there, back, second))):
        raise ValueError(
            f"a kernel function must be symmetric: for the first two rows x and z of X, k(x, z) is {there:.6g} and "
            f"k(z, x) is {back:.6g}"
        )
