"""Errors of kernel values, and of features that stand for a kernel. The asv suite reads this file, too."""

import numpy as np

DRAWS = ("iid", "orthogonal", "qmc", "fastfood")
LANDMARKS = ("uniform", "stratified", "kmeans", "leverage")


def relative_error(K, features):
    """‖K − Φ Φᵀ‖ / ‖K‖, Frobenius norms.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    features : ndarray of shape (n, D)
    """
    features = np.asarray(features, dtype=np.float64)
    return float(np.linalg.norm(K - features @ features.T) / np.linalg.norm(K))


def root_mean_square(errors):
    """Of errors over seeds. For independent draws the expected mean square is that of one draw over their number."""
    return float(np.mean(np.square(errors)) ** 0.5)


def float32_error(block, kernel, X, Z):
    """How far a block of rows in float32 is from that in float64: largest difference over largest value.

    Parameters
    ----------
    block : callable
        `kernbench.kernels.blocks.block`.
    kernel : Kernel
    X, Z : ndarray of float64
    """
    exact = block(kernel, X, Z)
    single = block(kernel, X.astype(np.float32), Z.astype(np.float32))
    return np.abs(single - exact).max() / np.abs(exact).max()
