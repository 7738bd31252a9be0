"""The operator that gives a Gaussian process its variance at any point, on compiled features.

    A = C (C + alpha I)^{-1},  C = (1/n) sum_i k(x_i, .) (x) k(x_i, .),  var(x) = k(x, x) - A(x, x)

minimises 1/(2n) sum_i ||k_i - A k_i||^2 + alpha/2 ||A||^2. Its gradient is estimated on a batch of examples and a block
of two independent streams of features: A(x, z) = sum_ij z_i(x) Theta_ij z'_j(z)^T. With one stream on both sides the
expectation would be one of squares of features, not a product of kernels.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

ROWS_AT_ONCE = 512


class CovarianceOperator:
    """The coefficients Theta, and their steps.

    Parameters
    ----------
    first, second : FeatureBlocks
        The two streams.
    seed : int
    coef : ndarray of shape (n, n), optional
        Where to start, n a multiple of the columns of a block.
    """

    def __init__(self, first, second, seed, coef=None):
        self.first, self.second, self.seed = first, second, seed
        self.coef = np.zeros((0, 0)) if coef is None else np.array(coef, dtype=np.float64)

    def sums(self, X, weights, k, with_covariance):
        """Return sums over examples that a step on the block k needs; see `take`.

        Parameters
        ----------
        X : ndarray or CSR matrix
        weights : ndarray of shape (n,), or None
        k : int
        with_covariance : bool

        Returns
        -------
        ascent : ndarray of shape (n_coefficients, n_columns)
        covariance : ndarray of shape (n_columns, n_columns)
            Of the block of the second stream; None unless `with_covariance`.
        """
        m, old = self.first.n_columns, len(self.coef)
        size, mine = max(old, (k + 1) * m), slice(k * m, (k + 1) * m)
        ascent, covariance = np.zeros((size, m)), np.zeros((m, m)) if with_covariance else None
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            Z = self.first.features(X[rows], self.seed, k).astype(np.float64, copy=False)
            other = _all_features(self.second, X[rows], self.seed, size // m)
            block = other[:, mine] if weights is None else weights[rows, None] * other[:, mine]
            ascent[:old] -= (other[:, :old] @ self.coef.T).T @ block  # A k(x, .) before the step
            ascent[mine] += Z.T @ block
            if with_covariance:
                covariance += other[:, mine].T @ block
        return ascent, covariance

    def take(self, ascent, covariance, n_rows, k, gamma, alpha, ridge):
        """Do a step on the block k; return what `change` does.

        Parameters
        ----------
        ascent, covariance : ndarray
            Of `sums`, which are overwritten.
        n_rows, k : int
        gamma, alpha, ridge : float
            `ridge` is added to the covariance of a preconditioner; without one, all coefficients are shrunk.
        """
        m, shrink = self.first.n_columns, 1.0
        ascent /= n_rows
        if covariance is not None:
            self._grow(len(ascent))
            ascent -= alpha * (len(ascent) // m) * self.coef[:, k * m : (k + 1) * m]
            covariance /= n_rows
            covariance[np.diag_indices(m)] += ridge
            ascent = cho_solve(cho_factor(covariance, lower=True, overwrite_a=True), ascent.T).T
        else:
            shrink = 1.0 - gamma * alpha
        step = shrink, k, gamma * ascent
        self.change(*step)
        return step

    def change(self, shrink, k, change):
        """Multiply all coefficients by `shrink`, and add `change` to the columns of the block k."""
        m = self.first.n_columns
        self._grow(len(change))
        if shrink != 1.0:
            self.coef *= shrink
        self.coef[:, k * m : (k + 1) * m] += change

    def explained(self, X):
        """Return A(x, x) of every row."""
        n_blocks = len(self.coef) // self.first.n_columns
        total = np.zeros(X.shape[0])
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            Z, other = (_all_features(stream, X[rows], self.seed, n_blocks) for stream in (self.first, self.second))
            total[rows] = np.einsum("ij,ij->i", Z @ self.coef, other)
        return total

    def _grow(self, size):
        if size > len(self.coef):
            larger = np.zeros((size, size))
            larger[: len(self.coef), : len(self.coef)] = self.coef
            self.coef = larger


def _all_features(stream, X, seed, n_blocks):
    """Return the features of all blocks beside each other, in float64."""
    out = np.empty((X.shape[0], n_blocks * stream.n_columns))
    for b in range(n_blocks):
        out[:, b * stream.n_columns : (b + 1) * stream.n_columns] = stream.features(X, seed, b)
    return out
