"""The operator that gives a Gaussian process its variance at any point, on random features.

    A = C (C + alpha I)^{-1},  C = (1/n) sum_i k(x_i, .) (x) k(x_i, .),  var(x) = k(x, x) - A(x, x)

minimises 1/(2n) sum_i ||k_i - A k_i||^2 + alpha/2 ||A||^2. Its gradient is estimated on a batch of examples and a block
of two independent streams of features: A(x, z) = sum_ij z_i(x) Theta_ij z'_j(z)^T. With one stream on both sides the
expectation would be one of squares of features, not a product of kernels.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from kernbench.solvers.streaming import _doubly_sgd


class CovarianceOperator:
    """The coefficients Theta, and their steps.

    Parameters
    ----------
    first, second : FeatureBlocks
        The two streams.
    seed : int
    coef : ndarray of shape (n, n), optional
        The starting point, n a multiple of the columns of a block.
    core : module, optional
        The core of `kernbench.solvers.streaming.doubly_sgd`, which made the streams; the compiled one by default.
    """

    def __init__(self, first, second, seed, coef=None, core=_doubly_sgd):
        self.first, self.second, self.seed, self.core = first, second, seed, core
        self.coef = np.zeros((0, 0)) if coef is None else np.array(coef, dtype=np.float64)

    def sums(self, X, weights, k, with_covariance):
        """Return sums over examples that a step on the block k needs (see `take`): ascent and covariance."""
        return self.core.operator_sums(
            self.first, self.second, self.seed, k, X, weights, self.coef, with_covariance
        )  # fmt: skip

    def take(self, ascent, covariance, n_rows, k, gamma, alpha, ridge):
        """Do a step on the block k; return what `change` does.

        Parameters
        ----------
        ascent, covariance : ndarray
            The results of `sums`; they are overwritten.
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
        return self.core.operator_diagonal(self.first, self.second, self.seed, X, self.coef)

    def _grow(self, size):
        if size > len(self.coef):
            larger = np.zeros((size, size))
            larger[: len(self.coef), : len(self.coef)] = self.coef
            self.coef = larger
