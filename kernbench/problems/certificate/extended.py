"""Scores and inner products in extended precision (`numpy.longdouble`), for few rows or where float64 cancels.

A space has the methods of a design: ``scores(coef)``, ``combine(g)`` and ``inner(u, scores_of_u)``. Where the platform
has no type wider than float64, results are those of float64 and so is `EPS`, by which their errors are bounded.
"""

import numpy as np
from scipy import sparse

from kernbench.kernels import blocks
from kernbench.kernels.functions import Cauchy, Gaussian, Laplacian, Linear, Polynomial, Sigmoid
from kernbench.problems.certificate.kernel_values import error_of_sigmoid, error_of_values, most_stored

LONG = np.longdouble
EPS = float(np.finfo(LONG).eps)
DOUBLE = float(np.finfo(np.float64).eps)
TILE = 2**18  # kernel values, or entries of X, that are computed or converted at a time: up to 4 MB
# Bytes of kernel values that are kept for another product. Those that a certificate has the time to compute by a
# formula fit; more of them are given, and converted again.
KEPT_BYTES = 64 * 2**20


class Features:
    """Linear functions <w, x> of the rows of X.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Attributes
    ----------
    work : int
        Multiplications of a product with X.
    """

    def __init__(self, X):
        self.X, self.is_sparse = X, sparse.issparse(X)
        self.work = X.nnz if self.is_sparse else X.shape[0] * X.shape[1]

    def scores(self, coef):
        """Return <coef, x_i> for all rows."""
        X, coef = self.X, np.asarray(coef, dtype=LONG)
        if not self.is_sparse:
            return np.concatenate([X[rows].astype(LONG) @ coef for rows in _tiles(X.shape)])
        products, out = X.data.astype(LONG) * coef[X.indices], np.zeros(X.shape[0], dtype=LONG)
        filled = np.diff(X.indptr) > 0
        if filled.any():
            out[filled] = np.add.reduceat(products, X.indptr[:-1][filled])
        return out

    def combine(self, g):
        """Return sum_i g_i x_i."""
        X, g = self.X, np.asarray(g, dtype=LONG)
        out = np.zeros(X.shape[1], dtype=LONG)
        if self.is_sparse:
            np.add.at(out, X.indices, X.data.astype(LONG) * np.repeat(g, np.diff(X.indptr)))
            return out
        for rows in _tiles(X.shape):
            out += g[rows] @ X[rows].astype(LONG)
        return out

    def inner(self, u, scores_of_u):
        """Return |u|^2."""
        return u @ u


class Expansion:
    """Functions sum_i coef_i k(x_i, .) of the rows of X.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
        The kernel matrix if `kernel` is precomputed.

    Attributes
    ----------
    work : int
        Multiplications of a product with the kernel matrix.
    value_error : float
        Bound on the error of a kernel value, relative to the largest.
    """

    def __init__(self, kernel, X):
        self.kernel, self.X, n = kernel, X, X.shape[0]
        d = X.nnz / n if sparse.issparse(X) else X.shape[1]
        self.columns = Features(X) if isinstance(kernel, Linear) else None
        self.is_given = kernel.routine == "precomputed"
        self.formula = FORMULAS.get(type(kernel))
        self.work = self.columns.work if self.columns else n * n * (1 if self.is_given else X.shape[1] + 10)
        degree = int(kernel.degree) if isinstance(kernel, Polynomial) else 1
        if isinstance(kernel, Sigmoid):
            self.value_error = error_of_sigmoid(EPS, kernel, X, most_stored(X))
        elif self.columns or self.is_given or self.formula:
            self.value_error = EPS * 4 * degree * (d + 8)
        else:
            self.value_error = error_of_values(kernel, np.float64, X)
        self._used, self._kept = None, []  # columns of the last product, and its kernel values, if they are kept

    def scores(self, coef):
        """Return sum_j coef_j k(x_j, x_i) for all rows."""
        coef = np.asarray(coef, dtype=LONG)
        if self.columns:
            return self.columns.scores(self.columns.combine(coef))
        used = np.flatnonzero(coef)
        coef = coef[used]
        return np.concatenate([values @ coef for values in self._values_by_tiles(used)])

    def combine(self, g):
        """Return the coefficients of sum_i g_i k(x_i, .), which are g."""
        return g

    def inner(self, u, scores_of_u):
        """Return |f|^2 of the f with coefficients u."""
        return u @ scores_of_u

    def _values_by_tiles(self, columns):
        """The kernel values of all rows and these columns, kept for the next product if there are not too many."""
        if np.array_equal(columns, self._used):  # a dual bound of the same rows: values cost more than products
            return self._kept
        self._used, self._kept = None, []  # first, so that the old values need no memory beside the new ones
        shape = (self.X.shape[0], max(1, len(columns)))
        tiles = (self._values(rows, columns) for rows in _tiles(shape))
        if shape[0] * shape[1] * np.dtype(LONG).itemsize > KEPT_BYTES:
            return tiles
        self._used, self._kept = columns, list(tiles)
        return self._kept

    def _values(self, rows, columns):
        if self.is_given:
            return self.X[rows][:, columns].astype(LONG)
        if self.formula is None:
            return blocks.block(self.kernel, self.X[rows], self.X[columns], dtype=np.float64).astype(LONG)
        left, right = _dense(self.X[rows]), _dense(self.X[columns])
        return self.formula(self.kernel, left, right)


def _dense(X):
    return (X.toarray() if sparse.issparse(X) else X).astype(LONG)


def _tiles(shape):
    height = max(1, TILE // max(1, shape[1]))
    return [slice(start, min(shape[0], start + height)) for start in range(0, shape[0], height)]


def _sum_over_columns(term, X, Z):
    total = np.zeros((len(X), len(Z)), dtype=LONG)
    for x, z in zip(X.T, Z.T):
        total += term(x[:, None], z)
    return total


def _gaussian(kernel, X, Z):
    squares = _sum_over_columns(lambda x, z: np.square(x - z), X, Z)
    return np.exp(-squares / (2 * LONG(kernel.sigma) ** 2))


def _laplacian(kernel, X, Z):
    return np.exp(-_sum_over_columns(lambda x, z: np.abs(x - z), X, Z) / LONG(kernel.sigma))


def _cauchy(kernel, X, Z):
    product = np.ones((len(X), len(Z)), dtype=LONG)
    for x, z in zip(X.T, Z.T):
        product *= 1 + np.square((x[:, None] - z) / LONG(kernel.sigma))
    return 1 / product


def _polynomial(kernel, X, Z):
    return (LONG(kernel.scale) * (X @ Z.T) + LONG(kernel.c)) ** int(kernel.degree)


def _sigmoid(kernel, X, Z):
    return np.tanh(LONG(kernel.scale) * (X @ Z.T) + LONG(kernel.c))


FORMULAS = {Gaussian: _gaussian, Laplacian: _laplacian, Cauchy: _cauchy, Polynomial: _polynomial, Sigmoid: _sigmoid}
