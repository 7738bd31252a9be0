"""The operator of a Gaussian process's variance: twin of kernbench.solvers.streaming.covariance_operator."""

import numpy as np


class CovarianceOperator:
    """A(x, z) = sum_ij z_i(x) Theta_ij z'_j(z)^T, with Theta a list of lists of blocks.

    Parameters
    ----------
    first, second : callable
        ``first(X, i)`` returns the features z_i of rows, ``second`` those of the second stream, z'.
    coef : ndarray of shape (n, n), optional
        All blocks of Theta.
    m : int
        Columns of a block.
    """

    def __init__(self, first, second, m, coef=None):
        self.first, self.second, self.m, self.theta = first, second, m, []
        if coef is not None:
            blocks = range(0, len(coef), m)
            self.theta = [[np.array(coef[i : i + m, j : j + m]) for j in blocks] for i in blocks]

    def step(self, X, weights, k, gamma, alpha, ridge=None):
        """Do a step on the block k with the examples X."""
        B, m, old = X.shape[0], self.m, len(self.theta)
        w = np.ones((B, 1)) if weights is None else weights[:, None]
        other = [self.second(X, j) for j in range(max(old, k + 1))]
        u = [sum(other[j] @ self.theta[i][j].T for j in range(old)) for i in range(old)]  # the old Theta
        if k == old:
            for row in self.theta:
                row.append(np.zeros((m, m)))
            self.theta.append([np.zeros((m, m)) for _ in range(old + 1)])
        ascent = [-u_i.T @ (w * other[k]) / B for u_i in u] + [np.zeros((m, m))] * (k == old)
        ascent[k] = ascent[k] + self.first(X, k).T @ (w * other[k]) / B
        if ridge is not None:
            covariance = other[k].T @ (w * other[k]) / B + ridge * np.eye(m)
            for i in range(len(self.theta)):
                gradient = ascent[i] - alpha * len(self.theta) * self.theta[i][k]
                ascent[i] = np.linalg.solve(covariance, gradient.T).T
        else:
            self.theta = [[(1 - gamma * alpha) * block for block in row] for row in self.theta]
        for i, row in enumerate(self.theta):
            row[k] = row[k] + gamma * ascent[i]

    @property
    def coef(self):
        return np.block(self.theta) if self.theta else np.zeros((0, 0))

    def explained(self, X):
        """A(x, x) of every row."""
        n = range(len(self.theta))
        return sum(((self.first(X, i) @ self.theta[i][j]) * self.second(X, j)).sum(axis=1) for i in n for j in n)
