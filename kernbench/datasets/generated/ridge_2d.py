"""The function of two variables on which doubly stochastic gradients were first shown."""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS, generated_entry
from kernbench.validation.numbers import check_number

HALF_WIDTH = 5.0


def ridge_2d(n, rng, *, noise=0.1):
    """Noisy values of `ripple` at uniform points of the square [-5, 5]².

    The synthetic set of Dai, Xie, He, Liang, Raj, Balcan and Song, "Scalable Kernel Methods via Doubly Stochastic
    Gradients" (NIPS 2014).

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=0.1
        Standard deviation of the noise.

    Returns
    -------
    X : ndarray of shape (n, 2), float64
    y : ndarray of shape (n,), float64
    """
    check_number("noise", noise, at_least=0)
    X = rng.uniform(-HALF_WIDTH, HALF_WIDTH, (n, 2)).round(DECIMALS)
    return X, (ripple(X) + noise * rng.standard_normal(n)).round(DECIMALS)


def ripple(X):
    """The function without noise, ``cos(π/2 ‖x‖) exp(-π/10 ‖x‖)``: circular waves that die away."""
    radius = np.hypot(X[:, 0], X[:, 1])
    return np.cos(0.5 * np.pi * radius) * np.exp(-0.1 * np.pi * radius)


ENTRIES = (
    generated_entry(
        ridge_2d,
        "Circular waves in the plane, cos(π/2 ‖x‖) exp(-π/10 ‖x‖), with Gaussian noise: a regression.",
        n_train=2**16,
        n_test=2**12,
        n_features=2,
        task="regression",
    ),
)
