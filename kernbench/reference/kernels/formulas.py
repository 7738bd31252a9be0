"""The kernels' formulas in plain NumPy and float64.

They are evaluated literally, without precomputed logarithms or rearranged sums. Each function takes the kernel
and rows X (n, d) and Z (m, d), arrays or CSR matrices, and returns the (n, m) values; those that compare entries are
written for one row `x` against all rows of Z, and repeated row by row.
"""

from functools import wraps

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import gamma, kv

from kernbench.kernels import functions as kernels

AFAR = 4e6  # squared norms, in length scales, from which rounding of inner products shows in a Gaussian kernel
NEAR = 0.05  # share of them below which squared distances of rows are then computed from differences
PAIRS = 4096  # of sparse rows that are subtracted from each other at a time


def _row_by_row(formula):
    """Turn a function of a row and rows into one of rows and rows."""

    @wraps(formula)
    def of_rows(kernel, X, Z):
        X, Z = dense(X), dense(Z)
        return np.array([formula(kernel, x, Z) for x in X]).reshape(len(X), len(Z))

    return of_rows


def linear(kernel, X, Z):
    """<x, z>"""
    return _inner_products(X, Z)


def centred_linear(kernel, X, Z):
    """<x - c, z - c>"""
    return (dense(X) - kernel.centre) @ (dense(Z) - kernel.centre).T


def cosine(kernel, X, Z):
    """<x, z> / (|x| |z|), 0 for a zero row"""
    return _unit(dense(X)) @ _unit(dense(Z)).T


def polynomial(kernel, X, Z):
    """(scale <x, z> + c)^degree"""
    return (kernel.scale * _inner_products(X, Z) + kernel.c) ** int(kernel.degree)


def sigmoid(kernel, X, Z):
    """tanh(scale <x, z> + c)"""
    return np.tanh(kernel.scale * _inner_products(X, Z) + kernel.c)


def dot_product(kernel, X, Z):
    """sum_n a_n <x, z>^n"""
    products = _inner_products(X, Z)
    return sum(a * products**n for n, a in enumerate(kernel.coefficients))


@_row_by_row
def arc_cosine(kernel, x, Z):
    """(1/pi) |x|^n |z|^n J_n(theta), theta = arccos(<x, z> / (|x| |z|)); for a zero row, theta = pi/2.

    From unit rows u and v, theta = 2 arctan2(|u - v|, |u + v|), which keeps its digits where u and v nearly coincide.
    """
    u, V = _unit(x[None])[0], _unit(Z)
    theta = 2 * np.arctan2(np.linalg.norm(u - V, axis=1), np.linalg.norm(u + V, axis=1))
    theta = np.where(np.any(u != 0) & np.any(V != 0, axis=1), theta, np.pi / 2)
    sine, cosine = np.sin(theta), np.cos(theta)
    J = (np.pi - theta, sine + (np.pi - theta) * cosine, 3 * sine * cosine + (np.pi - theta) * (1 + 2 * cosine**2))[
        int(kernel.order)
    ]
    return (np.linalg.norm(x) * np.linalg.norm(Z, axis=1)) ** int(kernel.order) * J / np.pi


def _unit(X):
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1.0)


def gaussian(kernel, X, Z):
    """exp(-|x - z|^2 / (2 sigma^2))"""
    return np.exp(-_squared_distances(X, Z, AFAR * kernel.sigma**2) / (2 * kernel.sigma**2))


def laplacian(kernel, X, Z):
    """exp(-|x - z|_1 / sigma)"""
    return np.exp(-cdist(dense(X), dense(Z), "cityblock") / kernel.sigma)


@_row_by_row
def cauchy(kernel, x, Z):
    """prod_j 1 / (1 + ((x_j - z_j) / sigma)^2)"""
    return np.prod(1 / (1 + np.square((x - Z) / kernel.sigma)), axis=1)


def matern(kernel, X, Z):
    """2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) |x - z| / length_scale, and 1 at t = 0."""
    nu = kernel.nu
    t = np.sqrt(2 * nu) * cdist(dense(X), dense(Z)) / kernel.length_scale
    apart = np.where(t > 0, t, 1.0)
    return np.where(t > 0, 2 ** (1 - nu) / gamma(nu) * apart**nu * kv(nu, apart), 1.0)


@_row_by_row
def hellinger(kernel, x, Z):
    """sum_j sqrt(x_j z_j)"""
    return (np.sqrt(x) * np.sqrt(Z)).sum(axis=1)


@_row_by_row
def chi_squared(kernel, x, Z):
    """2 sum_j x_j z_j / (x_j + z_j), 0/0 = 0"""
    return 2 * _quotient(x * Z, x + Z).sum(axis=1)


@_row_by_row
def exponential_chi_squared(kernel, x, Z):
    """exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), 0/0 = 0"""
    return np.exp(-kernel.gamma * _quotient(np.square(x - Z), x + Z).sum(axis=1))


@_row_by_row
def intersection(kernel, x, Z):
    """sum_j min(x_j, z_j)"""
    return np.minimum(x, Z).sum(axis=1)


@_row_by_row
def jensen_shannon(kernel, x, Z):
    """sum_j x_j/2 log2((x_j + z_j) / x_j) + z_j/2 log2((x_j + z_j) / z_j); a zero entry adds nothing."""
    both = (x > 0) & (Z > 0)
    x, Z = np.where(both, x, 1.0), np.where(both, Z, 1.0)
    terms = x / 2 * np.log2((x + Z) / x) + Z / 2 * np.log2((x + Z) / Z)
    return np.where(both, terms, 0.0).sum(axis=1)


@_row_by_row
def skewed_chi_squared(kernel, x, Z):
    """prod_j 2 sqrt(x_j + c) sqrt(z_j + c) / (x_j + z_j + 2 c)"""
    c = kernel.c
    return np.prod(2 * np.sqrt(x + c) * np.sqrt(Z + c) / (x + Z + 2 * c), axis=1)


@_row_by_row
def skewed_intersection(kernel, x, Z):
    """prod_j min(sqrt((x_j + c) / (z_j + c)), sqrt((z_j + c) / (x_j + c)))"""
    ratio = np.sqrt((x + kernel.c) / (Z + kernel.c))
    return np.prod(np.minimum(ratio, 1 / ratio), axis=1)


@_row_by_row
def exponential_semigroup(kernel, x, Z):
    """exp(-beta sum_j sqrt(x_j + z_j))"""
    return np.exp(-kernel.beta * np.sqrt(x + Z).sum(axis=1))


@_row_by_row
def reciprocal_semigroup(kernel, x, Z):
    """prod_j lam / (x_j + z_j + lam)"""
    return np.prod(kernel.lam / (x + Z + kernel.lam), axis=1)


def dense(X):
    """Return X as an array."""
    return X.toarray() if sparse.issparse(X) else X


def _inner_products(X, Z):
    return np.asarray(dense(X @ Z.T))


def _squared_distances(X, Z, afar):
    if not sparse.issparse(X) and not sparse.issparse(Z):
        return cdist(X, Z, "sqeuclidean")
    # Differences of sparse rows are expensive; ||x||^2 + ||z||^2 - 2<x, z> may be slightly negative.
    norms = _squared_norms(X)[:, None] + _squared_norms(Z)[None, :]
    squares = np.maximum(norms - 2 * _inner_products(X, Z), 0.0)
    rows, columns = np.nonzero((norms > afar) & (squares < NEAR * norms))
    X, Z = sparse.csr_matrix(X), sparse.csr_matrix(Z)
    for start in range(0, len(rows), PAIRS):
        i, j = rows[start : start + PAIRS], columns[start : start + PAIRS]
        squares[i, j] = _squared_norms(X[i] - Z[j])
    return squares


def _squared_norms(X):
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def _quotient(numerator, denominator):
    """numerator / denominator, with 0/0 = 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


FORMULAS = {
    kernels.Linear: linear,
    kernels.CentredLinear: centred_linear,
    kernels.Cosine: cosine,
    kernels.Polynomial: polynomial,
    kernels.DotProduct: dot_product,
    kernels.Sigmoid: sigmoid,
    kernels.ArcCosine: arc_cosine,
    kernels.Gaussian: gaussian,
    kernels.Laplacian: laplacian,
    kernels.Cauchy: cauchy,
    kernels.Matern: matern,
    kernels.Hellinger: hellinger,
    kernels.ChiSquared: chi_squared,
    kernels.ExponentialChiSquared: exponential_chi_squared,
    kernels.Intersection: intersection,
    kernels.JensenShannon: jensen_shannon,
    kernels.SkewedChiSquared: skewed_chi_squared,
    kernels.SkewedIntersection: skewed_intersection,
    kernels.ExponentialSemigroup: exponential_semigroup,
    kernels.ReciprocalSemigroup: reciprocal_semigroup,
}
