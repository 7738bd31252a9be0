"""Arithmetic of doubly stochastic gradients in plain NumPy: the core of `solvers.streaming.doubly_sgd`."""

import numpy as np

from kernbench.kernels import functions as kernels
from kernbench.reference.features.random_features import ADDITIVE, FOURIER, feature_block


class Features:
    """The blocks of random features of a kernel, of one stream; parameters are those of `feature_blocks`."""

    def __init__(self, kernel, n_columns, n_features_in, form, draws, second_stream):
        self.kernel, self.n_columns, self.draws, self.second_stream = kernel, n_columns, draws, second_stream
        self.form = _form_of(kernel, n_columns, n_features_in) if form == "auto" else form

    def features(self, X, seed, block):
        """Return the block's features of the rows X, shape (n, n_columns)."""
        return feature_block(
            seed, int(block), self.n_columns, _dense(X), self.kernel, form=self.form, draws=self.draws,
            second_stream=self.second_stream,
        )  # fmt: skip

    def multiply(self, X, seed, blocks, A, out=None):
        """Return the sum of Z_b A_b over blocks, added to `out`."""
        out = np.zeros((X.shape[0], A.shape[2])) if out is None else out
        for b, A_b in zip(blocks, A):
            out += self.features(X, seed, b) @ A_b
        return out


def feature_blocks(kernel, n_columns, n_features_in, form, draws, cache_bytes=0, second_stream=False):
    """Return the blocks of random features of a kernel; nothing is cached."""
    return Features(kernel, n_columns, n_features_in, form, draws, second_stream)


def batch_sums(features, seed, k, X, y, weights, f, loss, factor):
    """Return the sums of losses and slopes, Z^T G, and `factor` times Z^T W Z (None without `factor`)."""
    w = np.ones(X.shape[0]) if weights is None else weights
    G = w[:, None] * loss.slope(f, y)
    Z = features.features(X, seed, k)
    covariance = None if factor is None else factor * (Z.T @ (w[:, None] * Z))
    return w @ loss.value(f, y), G.sum(), Z.T @ G, covariance


def operator_sums(first, second, seed, k, X, weights, coef, with_covariance):
    """Return the ascent of a step of the covariance operator, and the covariance of block k of the second stream.

    With Theta_ij the blocks of `coef`, the ascent is -u_i^T W z'_k for u_i = sum_j z'_j Theta_ij^T, and for i = k also
    z_k^T W z'_k.
    """
    m = first.n_columns
    old = len(coef) // m
    n_blocks = max(old, k + 1)
    theta = coef.reshape(old, m, old, m).swapaxes(1, 2)
    w = np.ones((X.shape[0], 1)) if weights is None else weights[:, None]
    other = [second.features(X, seed, j) for j in range(n_blocks)]
    ascent = np.zeros((n_blocks, m, m))
    for i in range(old):
        ascent[i] = -sum(other[j] @ theta[i, j].T for j in range(old)).T @ (w * other[k])
    ascent[k] += first.features(X, seed, k).T @ (w * other[k])
    return ascent.reshape(-1, m), other[k].T @ (w * other[k]) if with_covariance else None


def operator_diagonal(first, second, seed, X, coef):
    """Return A(x, x) = sum_ij z_i(x) Theta_ij z'_j(x)^T of every row."""
    blocks = range(len(coef) // first.n_columns)
    Z, other = (np.hstack([stream.features(X, seed, b) for b in blocks]) for stream in (first, second))
    return ((Z @ coef) * other).sum(axis=1)


def _form_of(kernel, m, d):
    """The form of features that ``"auto"`` means, of a kernel that is no sum."""
    factors = kernel.kernels if isinstance(kernel, kernels.Product) else (kernel,)
    if any(isinstance(factor, FOURIER) for factor in factors):
        return "pair" if m % 2 == 0 else "phase"
    if len(factors) == 1 and isinstance(kernel, ADDITIVE):
        return "vector" if m % (2 * d) == 0 else "scalar"
    return "tensor-sketch" if isinstance(kernel, kernels.Polynomial) else "random"


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else X
