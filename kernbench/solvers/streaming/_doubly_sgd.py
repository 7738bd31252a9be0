"""Arithmetic of doubly stochastic gradients on compiled features and losses: the core of `doubly_sgd`."""

import numpy as np
from scipy.linalg.blas import dsyrk

from kernbench.features.blocks import FeatureBlocks
from kernbench.losses._output import values_and_slopes

ROWS_AT_ONCE = 512


def feature_blocks(kernel, n_columns, n_features_in, form, draws, cache_bytes=0, second_stream=False):
    """Return the blocks of random features of a kernel: see `kernbench.features.blocks.FeatureBlocks`."""
    return FeatureBlocks(
        kernel, n_columns, n_features_in, form=form, draws=draws, cache_bytes=cache_bytes, second_stream=second_stream
    )


def batch_sums(features, seed, k, X, y, weights, f, loss, factor):
    """Return the sums over a batch that a step on block k needs.

    Parameters
    ----------
    features : FeatureBlocks
    seed, k : int
    X : ndarray or CSR matrix
    y, weights : ndarray or None
    f : ndarray of shape (n, n_outputs)
        Outputs of the rows before the step.
    loss : OutputLoss
    factor : float or None
        Multiplies the covariance; None without a preconditioner.

    Returns
    -------
    losses, slopes : float
    gradient : ndarray of shape (n_columns, n_outputs)
        Z^T G, with G the weighted slopes.
    covariance : ndarray of shape (n_columns, n_columns) or None
        `factor` times Z^T W Z, at least its lower half.
    """
    losses, G = values_and_slopes(loss, f, y)
    losses = losses.sum() if weights is None else weights @ losses
    G = G if weights is None else weights[:, None] * G
    if factor is None:
        return losses, G.sum(), features.transposed(X, seed, k, G), None
    Z = features.features(X, seed, k).astype(np.float64, copy=False)
    weighted = Z if weights is None else np.sqrt(weights)[:, None] * Z
    return losses, G.sum(), Z.T @ G, dsyrk(factor, weighted.T, lower=1)


def operator_sums(first, second, seed, k, X, weights, coef, with_covariance):
    """Return the sums over a batch that a step of the covariance operator on block k needs.

    Parameters
    ----------
    first, second : FeatureBlocks
        The two streams.
    seed, k : int
    X : ndarray or CSR matrix
    weights : ndarray of shape (n,), or None
    coef : ndarray of shape (n_coefficients, n_coefficients)
    with_covariance : bool

    Returns
    -------
    ascent : ndarray of shape (n_coefficients, n_columns)
    covariance : ndarray of shape (n_columns, n_columns)
        Covariance of block k of the second stream; None unless `with_covariance`.
    """
    m, old = first.n_columns, len(coef)
    size, mine = max(old, (k + 1) * m), slice(k * m, (k + 1) * m)
    ascent, covariance = np.zeros((size, m)), np.zeros((m, m)) if with_covariance else None
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        Z = first.features(X[rows], seed, k).astype(np.float64, copy=False)
        other = _all_features(second, X[rows], seed, size // m)
        block = other[:, mine] if weights is None else weights[rows, None] * other[:, mine]
        ascent[:old] -= (other[:, :old] @ coef.T).T @ block  # A k(x, .) before the step
        ascent[mine] += Z.T @ block
        if with_covariance:
            covariance += other[:, mine].T @ block
    return ascent, covariance


def operator_diagonal(first, second, seed, X, coef):
    """Return A(x, x) of every row."""
    n_blocks = len(coef) // first.n_columns
    total = np.zeros(X.shape[0])
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        Z, other = (_all_features(stream, X[rows], seed, n_blocks) for stream in (first, second))
        total[rows] = np.einsum("ij,ij->i", Z @ coef, other)
    return total


def _all_features(stream, X, seed, n_blocks):
    """Return the features of all blocks beside each other, in float64."""
    out = np.empty((X.shape[0], n_blocks * stream.n_columns))
    for b in range(n_blocks):
        out[:, b * stream.n_columns : (b + 1) * stream.n_columns] = stream.features(X, seed, b)
    return out
