"""Frequencies w of k(x, z) = E[cos(<w, x - z>)], and those of semigroup and arc-cosine kernels, one draw a row."""

import warnings
from functools import cache

import numpy as np
from scipy.integrate import quad
from scipy.linalg import hadamard
from scipy.optimize import brentq
from scipy.special import gammaincinv, ndtri
from scipy.stats import qmc

from kernbench.kernels import functions as kernels
from kernbench.reference.features.philox import FREQUENCIES, SCALES, SECOND_STREAM


def tangent(u):
    """Cauchy distribution, density 1 / (pi (1 + w^2))."""
    return np.tan(np.pi * (u - 0.5))


def laplace(u):
    """Density exp(-|w|) / 2."""
    return -np.sign(u - 0.5) * np.log1p(-2 * np.abs(u - 0.5))


def sech(u):
    """Density sech(pi w)."""
    return np.log(np.tan(np.pi * u / 2)) / np.pi


@np.vectorize
@cache
def jensen_shannon(u):
    """Density (2 / ln 4) sech(pi w) / (1 + 4 w^2), by its distribution function."""

    def density(w):
        return 2 / np.log(4) / np.cosh(np.pi * w) / (1 + 4 * w**2)

    def excess(w):  # mass beyond w minus the smaller of u and 1 - u
        return quad(density, w, w + 15, epsabs=0, epsrel=1e-13)[0] - min(u, 1 - u)

    size = brentq(excess, 0, 10, xtol=1e-14)
    return size if u > 0.5 else -size


# For u uniform on (0, 1), one coordinate.
INVERSES = {
    kernels.Gaussian: lambda kernel, u: ndtri(u) / kernel.sigma,
    kernels.Laplacian: lambda kernel, u: tangent(u) / kernel.sigma,
    kernels.Cauchy: lambda kernel, u: laplace(u) / kernel.sigma,
    kernels.Matern: lambda kernel, u: ndtri(u) * np.sqrt(2 * kernel.nu) / kernel.length_scale,  # over sqrt(g)
    kernels.SkewedChiSquared: lambda kernel, u: sech(u),
    kernels.SkewedIntersection: lambda kernel, u: tangent(u) / 2,
    kernels.ChiSquared: lambda kernel, u: sech(u),
    kernels.Intersection: lambda kernel, u: tangent(u) / 2,
    kernels.JensenShannon: lambda kernel, u: jensen_shannon(u),
    kernels.ExponentialSemigroup: lambda kernel, u: kernel.beta**2 / (2 * ndtri(u / 2) ** 2),
    kernels.ReciprocalSemigroup: lambda kernel, u: -np.log(u) / kernel.lam,
    kernels.ArcCosine: lambda kernel, u: ndtri(u),
}
# Those computed from normal numbers, unless the points are quasi-random.
NORMAL = {
    kernels.Gaussian: lambda kernel, z: z / kernel.sigma,
    kernels.Matern: lambda kernel, z: z * np.sqrt(2 * kernel.nu) / kernel.length_scale,
    kernels.ExponentialSemigroup: lambda kernel, z: kernel.beta**2 / (2 * z**2),
    kernels.ArcCosine: lambda kernel, z: z,
}


def frequencies(kernel, numbers, n_draws, d, draws="iid"):
    """Return W, shape (n_draws, d), of one block.

    Parameters
    ----------
    kernel : Kernel
    numbers : Numbers
    n_draws, d : int
    draws : {"iid", "orthogonal", "fastfood"}
        For quasi-random points see `from_points`.
    """
    if draws == "fastfood":
        W = fastfood(numbers, n_draws, d)
    elif draws == "orthogonal":
        W = orthogonal(numbers, n_draws, d)
    elif type(kernel) in NORMAL:
        W = np.array([numbers.normals(k, d, FREQUENCIES) for k in range(n_draws)])
    else:
        u = np.array([numbers.uniforms(k, d, FREQUENCIES) for k in range(n_draws)])
        return INVERSES[type(kernel)](kernel, u)
    W = NORMAL[type(kernel)](kernel, W)
    if isinstance(kernel, kernels.Matern):
        u = np.array([numbers.uniforms(k, 1, SCALES)[0] for k in range(n_draws)])
        W = W / np.sqrt(chi_squared(2 * kernel.nu, u))[:, None]
    return W


def chi_squared(degrees, u):
    """The inverse distribution function of chi^2."""
    return 2 * gammaincinv(degrees / 2, u)


def orthogonal(numbers, n_draws, d):
    """Normal vectors, orthogonal within each group of d (Yu et al., NIPS 2016)."""
    rows = [numbers.normals(k, d, FREQUENCIES) for k in range(n_draws)]
    for first in range(0, n_draws, d):
        group = []
        for k in range(first, min(first + d, n_draws)):
            row = rows[k]
            for _ in range(2):  # Gram-Schmidt, twice: one round may leave rounding errors
                for other in group:
                    row = row - (row @ other) * other
            group.append(row / np.linalg.norm(row))
            rows[k] = group[-1] * np.sqrt(chi_squared(d, numbers.uniforms(k, 2, SCALES)[1]))
    return np.array(rows)


def fastfood(numbers, n_draws, d):
    """Rows of S H G P H B / sqrt(D), D the power of two from d on (Le, Sarlós and Smola, ICML 2013)."""
    D = 1 << (d - 1).bit_length()
    H = hadamard(D).astype(np.float64)
    W = []
    for first in range(0, n_draws, D):
        draws = range(first, first + D)
        G = np.array([numbers.normals(k, 1, FREQUENCIES)[0] for k in draws])
        words = np.array([numbers.words(k, 2, FREQUENCIES, first_quad=1) for k in draws])
        B = np.where(words[:, 0] < 2**31, 1.0, -1.0)
        P = np.eye(D)[np.argsort(words[:, 1], kind="stable")]
        lengths = np.sqrt(chi_squared(D, np.array([numbers.uniforms(k, 2, SCALES)[1] for k in draws])))
        S = lengths / np.linalg.norm(G)
        W.append(np.diag(S) @ H @ np.diag(G) @ P @ H @ np.diag(B) / np.sqrt(D))
    return np.concatenate(W)[:n_draws, :d]


def sobol(numbers, n, n_dimensions):
    """Return the points of a block of n draws, from the scrambled Sobol sequence of a seed, factor and stream."""
    first = numbers.block * n
    key = (numbers.seed, numbers.factor) + ((SECOND_STREAM,) if numbers.second else ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a length that is not a power of two
        rng = np.random.default_rng(key)
        try:
            sequence = qmc.Sobol(n_dimensions, scramble=True, rng=rng)
        except TypeError:  # SciPy before 1.15
            sequence = qmc.Sobol(n_dimensions, scramble=True, seed=rng)
        points = sequence.random(first + n)
    return np.clip(points[first:], 1e-12, 1 - 1e-12)


def from_points(kernel, points, d):
    """Return W from quasi-random points (n_draws, >= d; Matern: > d), as Yang et al., ICML 2014."""
    W = INVERSES[type(kernel)](kernel, points[:, :d])
    if isinstance(kernel, kernels.Matern):
        W = W / np.sqrt(chi_squared(2 * kernel.nu, points[:, d]))[:, None]
    return W
