"""What other libraries have in place of our kernels: the same matrix, or one that gives it in a line.

A peer is called with (kernel, X, Z) and timed; `values` turns its answer into the kernel's, off the clock, so
that the two can be compared entry by entry.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def _same(answer, X, Z):
    return answer


@dataclass(frozen=True)
class Peer:
    """Another library's function.

    Attributes
    ----------
    library : str
    call : callable
        ``call(kernel, X, Z)``.
    values : callable
        ``values(answer, X, Z)``: the kernel's values, shape (n, m).
    """

    library: str
    call: Callable
    values: Callable = _same


def _rbf(kernel, X, Z):
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(X, Z, gamma=0.5 / kernel.sigma**2)


def _laplacian(kernel, X, Z):
    from sklearn.metrics.pairwise import laplacian_kernel

    return laplacian_kernel(X, Z, gamma=1.0 / kernel.sigma)


def _matern(kernel, X, Z):
    from sklearn.gaussian_process.kernels import Matern

    return Matern(length_scale=kernel.length_scale, nu=kernel.nu)(X, Z)


def _linear(kernel, X, Z):
    from sklearn.metrics.pairwise import linear_kernel

    return linear_kernel(X, Z)


def _polynomial(kernel, X, Z):
    from sklearn.metrics.pairwise import polynomial_kernel

    return polynomial_kernel(X, Z, degree=kernel.degree, gamma=kernel.scale, coef0=kernel.c)


def _additive_chi2(kernel, X, Z):
    from sklearn.metrics.pairwise import additive_chi2_kernel

    return additive_chi2_kernel(X, Z)


def _chi2(kernel, X, Z):
    from sklearn.metrics.pairwise import chi2_kernel

    return chi2_kernel(X, Z, gamma=kernel.gamma)


def _cityblock(kernel, X, Z):
    from scipy.spatial.distance import cdist

    return cdist(X, Z, "cityblock")


def _jensen_shannon(kernel, X, Z):
    from scipy.spatial.distance import cdist

    return cdist(X, Z, "jensenshannon")


def _halved(answer, X, Z):
    """From sum_j (x_j - z_j)^2 / (x_j + z_j), or from sum_j |x_j - z_j|, to the mean of the two sums."""
    return 0.5 * (X.sum(axis=1, dtype=np.float64)[:, None] + Z.sum(axis=1, dtype=np.float64) + answer)


PEERS = {
    "gaussian": Peer("scikit-learn", _rbf),
    "laplacian": Peer("scikit-learn", _laplacian),
    "matern": Peer("scikit-learn", _matern),
    "linear": Peer("scikit-learn", _linear),
    "polynomial": Peer("scikit-learn", _polynomial),
    "chi-squared": Peer("scikit-learn", _additive_chi2, _halved),
    "exponential-chi-squared": Peer("scikit-learn", _chi2),
    "intersection": Peer("SciPy", _cityblock, lambda answer, X, Z: _halved(-answer, X, Z)),
    # For rows that sum to 1: the distance is the root of (1 - k) ln 2.
    "jensen-shannon": Peer("SciPy", _jensen_shannon, lambda answer, X, Z: 1.0 - answer**2 / np.log(2.0)),
}
