"""Counterparts of our kernels in other libraries: the same matrix, or one from which it follows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kernbench._lazy import load


@dataclass(frozen=True)
class Peer:
    """Another library's function of two sets of rows.

    Attributes
    ----------
    address : str
        ``"module:function"``, or of a class whose objects are such functions.
    options : callable
        ``options(kernel)``: its keyword arguments.
    values : callable
        ``values(answer, X, Z)``: the kernel's values, of shape (n, m), from what it returns; off the clock.
    """

    address: str
    options: Callable = lambda kernel: {}
    values: Callable = lambda answer, X, Z: answer

    @property
    def library(self):
        """The name of the library."""
        return {"sklearn": "scikit-learn", "scipy": "SciPy"}[self.address.partition(".")[0]]

    def call(self, kernel, X, Z):
        """The result of the function; of a class, that of calling an object of it."""
        function, options = load(self.address), self.options(kernel)
        return function(**options)(X, Z) if isinstance(function, type) else function(X, Z, **options)


def _halved(answer, X, Z):
    """From sum_j (x_j - z_j)^2 / (x_j + z_j), or from sum_j |x_j - z_j|, to the mean of the two sums."""
    return 0.5 * (X.sum(axis=1, dtype=np.float64)[:, None] + Z.sum(axis=1, dtype=np.float64) + answer)


PAIRWISE, CDIST = "sklearn.metrics.pairwise", "scipy.spatial.distance:cdist"
PEERS = {
    "gaussian": Peer(f"{PAIRWISE}:rbf_kernel", lambda kernel: {"gamma": 0.5 / kernel.sigma**2}),
    "laplacian": Peer(f"{PAIRWISE}:laplacian_kernel", lambda kernel: {"gamma": 1.0 / kernel.sigma}),
    "matern": Peer(
        "sklearn.gaussian_process.kernels:Matern", lambda kernel: {"length_scale": kernel.length_scale, "nu": kernel.nu}
    ),
    "linear": Peer(f"{PAIRWISE}:linear_kernel"),
    "polynomial": Peer(
        f"{PAIRWISE}:polynomial_kernel",
        lambda kernel: {"degree": kernel.degree, "gamma": kernel.scale, "coef0": kernel.c},
    ),
    "chi-squared": Peer(f"{PAIRWISE}:additive_chi2_kernel", values=_halved),
    "exponential-chi-squared": Peer(f"{PAIRWISE}:chi2_kernel", lambda kernel: {"gamma": kernel.gamma}),
    "intersection": Peer(CDIST, lambda kernel: {"metric": "cityblock"}, lambda answer, X, Z: _halved(-answer, X, Z)),
    # For rows that sum to 1: the distance is the root of (1 - k) ln 2.
    "jensen-shannon": Peer(
        CDIST, lambda kernel: {"metric": "jensenshannon"}, lambda answer, X, Z: 1.0 - answer**2 / np.log(2.0)
    ),
}
