"""From what people write, `kernel="rbf", gamma="scale"`, to a kernel object."""

import numpy as np
from scipy import sparse

from kernbench._names import unknown_name
from kernbench.kernels.functions import (
    Callable,
    ExponentialChiSquared,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
)

NAMES = ("rbf", "gaussian", "laplacian", "chi2", "poly", "polynomial", "linear", "precomputed")
MEDIAN_ROWS = 2000


def resolve_gamma(gamma, X, random_state=None):
    """Return scikit-learn's gamma as a positive float.

    Parameters
    ----------
    gamma : {"scale", "auto", "median"} or float
        ``"scale"`` is 1 / (d · variance of X), ``"auto"`` 1 / d, ``"median"`` 1 / (2 s²) with s the median distance
        between rows of a random subset of 2,000.
    X : ndarray or CSR matrix of shape (n, d)
    random_state : int, Generator or None
        Draws the subset of ``"median"``.

    Raises
    ------
    ValueError
        For an unknown name or a number that is not positive, and for ``"median"`` where the median distance is 0.
    """
    if isinstance(gamma, str):
        d = X.shape[1]
        if gamma == "auto":
            return 1.0 / d
        if gamma == "scale":
            if sparse.issparse(X):
                # In two passes and in float64: the mean of the squares minus the squared mean cancels.
                stored, n_entries = np.asarray(X.tocsr().data, dtype=np.float64), X.shape[0] * d
                mean = stored.sum() / n_entries
                variance = (np.square(stored - mean).sum() + (n_entries - len(stored)) * mean**2) / n_entries
            else:
                variance = np.asarray(X, dtype=np.float64).var()
            return 1.0 / (d * variance) if variance > 0 else 1.0
        if gamma == "median":
            return 0.5 / _median_distance(X, random_state) ** 2
        raise ValueError(unknown_name("gamma", gamma, ("scale", "auto", "median")))
    if not (np.isscalar(gamma) and np.isreal(gamma) and np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be 'scale', 'auto', 'median' or a positive number, got {gamma!r}")
    return float(gamma)


def _median_distance(X, random_state):
    from scipy.spatial.distance import pdist

    rng = np.random.default_rng(random_state)
    if X.shape[0] > MEDIAN_ROWS:
        X = X[np.sort(rng.choice(X.shape[0], MEDIAN_ROWS, replace=False))]
    median = np.median(pdist(X.toarray() if sparse.issparse(X) else X)) if X.shape[0] > 1 else 0.0
    if median == 0:
        raise ValueError("gamma='median' needs rows that differ, but the median distance between rows is 0: remove "
                         "repeated rows, or give gamma as a number")
    return median


def resolve_kernel(kernel, X, *, gamma="scale", degree=3, coef0=0.0, random_state=None):
    """Return the kernel object that `kernel` means.

    Parameters
    ----------
    kernel : str, Kernel or callable
        One of `NAMES`, a kernel object (then `gamma`, `degree` and `coef0` do not matter), or a function
        ``f(X, Z) -> matrix``.
    X : ndarray or CSR matrix of shape (n, d)
        Training rows, for ``gamma="scale"`` and ``"median"``.
    gamma, degree, coef0
        As in scikit-learn: ``rbf`` exp(-gamma ||x-z||²), ``laplacian`` exp(-gamma ||x-z||_1),
        ``chi2`` exp(-gamma sum_j (x_j-z_j)²/(x_j+z_j)), ``poly`` (gamma <x,z> + coef0)^degree.
    random_state : int, Generator or None
        For ``gamma="median"``.

    Raises
    ------
    ValueError
        For an unknown name (the message says the nearest) or a parameter out of its range.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        if callable(kernel):
            return Callable(kernel)
        raise ValueError(f"kernel must be a name, a kernel object or a function, got {kernel!r}")
    if kernel in ("rbf", "gaussian"):
        return Gaussian(float(np.sqrt(0.5 / resolve_gamma(gamma, X, random_state))))
    if kernel == "laplacian":
        return Laplacian(1.0 / resolve_gamma(gamma, X, random_state))
    if kernel == "chi2":
        return ExponentialChiSquared(resolve_gamma(gamma, X, random_state))
    if kernel in ("poly", "polynomial"):
        return Polynomial(degree, coef0, resolve_gamma(gamma, X, random_state))
    if kernel == "linear":
        return Linear()
    if kernel == "precomputed":
        return Precomputed()
    raise ValueError(unknown_name("kernel", kernel, NAMES))
