"""Spectral densities: the distribution of the random frequencies of each kernel.

A density is given twice: by its name in the compiled generator, which draws independent numbers, and by its
inverse distribution function, which maps quasi-random points. A kernel of length scale s is
k(x, z) = k0(x/s, z/s): the density is that of k0, and frequencies are divided by s. (Not by the kernel's
`unit`, the divisor of rows in the engine, which for some kernels contains a constant of the engine.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaincinv, ndtri

from kernbench.kernels.functions import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    ExponentialSemigroup,
    Gaussian,
    Intersection,
    JensenShannon,
    Laplacian,
    Matern,
    ReciprocalSemigroup,
    SkewedChiSquared,
    SkewedIntersection,
)


@dataclass(frozen=True)
class SpectralDensity:
    """The distribution of one coordinate of a frequency.

    Attributes
    ----------
    inverse : callable
        The inverse distribution function, array to array.
    generator : str, optional
        Its name in the compiled generator; None for those that always go through `inverse`.
    factor : float
        Multiplies the numbers of `generator` and `inverse`.
    isotropic : bool
        Whether frequencies are standard normal vectors, whose directions may be made orthogonal.
    heavy_tailed : bool
        Whether the variance is infinite: arguments of cosines are then too large for float32.
    """

    inverse: Callable
    generator: str | None = None
    factor: float = 1.0
    isotropic: bool = False
    heavy_tailed: bool = False


def inverse_cauchy(u):
    return np.tan(np.pi * (u - 0.5))


def inverse_laplace(u):
    v = u - 0.5
    return -np.sign(v) * np.log1p(-2 * np.abs(v))


def inverse_sech(u):
    return np.log(np.tan(np.pi * u / 2)) / np.pi


def inverse_exponential(u):
    return -np.log(u)


def inverse_levy(u):
    return 0.5 / ndtri(u / 2) ** 2


KNOTS = 4096
TAIL = 16.0  # |w| that the table of the Jensen-Shannon spectral density reaches; beyond it lies 1e-23 of the mass


def jensen_shannon_density(w):
    """(2 / ln 4) sech(pi w) / (1 + 4 w^2)."""
    return 2 / np.log(4) / np.cosh(np.pi * w) / (1 + 4 * w**2)


@lru_cache(maxsize=1)
def _jensen_shannon_table():
    """Knots s_i = -log(2 P[W > w_i]), w_i, and dw/ds there, for w from 0 to `TAIL`."""
    w = np.linspace(0, TAIL, KNOTS)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = (w[1] - w[0]) / 2
    middle = (w[:-1] + w[1:]) / 2
    mass = half * (jensen_shannon_density(middle[:, None] + half * nodes) @ weights)
    # Summed from the tail, which keeps its relative accuracy; all of it is 1/2.
    beyond = np.concatenate([np.cumsum(mass[::-1])[::-1], [0.0]])
    beyond += jensen_shannon_density(TAIL) / np.pi  # the remainder, where the density decays like exp(-pi w)
    beyond *= 0.5 / beyond[0]
    return -np.log(2 * beyond), w, beyond / jensen_shannon_density(w)


def inverse_jensen_shannon(u):
    """Cubic Hermite interpolation of w against -log of the tail, where it is nearly a straight line."""
    s, w, slope = _jensen_shannon_table()
    target = -np.log(2 * np.minimum(u, 1 - u))
    i = np.clip(np.searchsorted(s, target, side="right") - 1, 0, KNOTS - 2)
    h = s[i + 1] - s[i]
    t = (target - s[i]) / h
    value = (
        (1 + 2 * t) * (1 - t) ** 2 * w[i]
        + t * (1 - t) ** 2 * h * slope[i]
        + t**2 * (3 - 2 * t) * w[i + 1]
        + t**2 * (t - 1) * h * slope[i + 1]
    )
    return np.where(u < 0.5, -value, value)


NORMAL = SpectralDensity(ndtri, "normal", isotropic=True)
CAUCHY = SpectralDensity(inverse_cauchy, "cauchy", heavy_tailed=True)

SPECTRAL_DENSITIES = {
    Gaussian: NORMAL,
    Matern: NORMAL,  # divided by the root of a chi-square number, see `matern_scales`
    ArcCosine: NORMAL,
    Laplacian: CAUCHY,
    Cauchy: SpectralDensity(inverse_laplace, "laplace"),
    # Of (u - v) / 2, u = log(x + c): twice the frequencies of u.
    SkewedChiSquared: SpectralDensity(inverse_sech, "sech", factor=2.0),
    SkewedIntersection: CAUCHY,
    ExponentialSemigroup: SpectralDensity(inverse_levy, "levy"),
    ReciprocalSemigroup: SpectralDensity(inverse_exponential, "exponential"),
    ChiSquared: SpectralDensity(inverse_sech, "sech"),
    Intersection: SpectralDensity(inverse_cauchy, "cauchy", factor=0.5, heavy_tailed=True),
    JensenShannon: SpectralDensity(inverse_jensen_shannon),
}

SMALL = 1e-20  # from this length scale on, frequencies fit float32, except for a share of 1e-18 of the Cauchy density


def length_scale(kernel):
    """Return s of k(x, z) = k0(x/s, z/s), x and z lifted, where the spectral density is that of k0."""
    if isinstance(kernel, (SkewedChiSquared, SkewedIntersection)):
        return 2.0
    if isinstance(kernel, ExponentialSemigroup):
        return 1.0 / float(kernel.beta) ** 2
    if isinstance(kernel, Matern):
        return float(kernel.length_scale) / np.sqrt(2.0 * kernel.nu)
    names = ("sigma", "lam")
    return next((float(getattr(kernel, name)) for name in names if hasattr(kernel, name)), 1.0)


def in_precision(frequencies, kernel, dtype):
    """Return frequencies, or factors of them, in a precision; raise ValueError if they do not fit it.

    Those of a tiny length scale overflow float32, and then features are NaN.
    """
    with np.errstate(over="ignore"):
        rounded = frequencies.astype(dtype, copy=False)
    if length_scale(kernel) < SMALL and not np.all(np.isfinite(rounded)):
        raise ValueError(
            f"the length scale of {kernel} is too small for random features in {np.dtype(dtype).name}: scale the "
            "features, for example with sklearn.preprocessing.StandardScaler, or use float64"
        )
    return rounded


def matern_scales(nu, u):
    """Return 1 / sqrt(g), g ~ chi^2(2 nu): it turns a normal vector into a Student t (over sqrt(2 nu))."""
    return 1 / np.sqrt(2 * gammaincinv(nu, u))


def chi_lengths(d, u):
    """Return the lengths of standard normal vectors of d entries."""
    return np.sqrt(2 * gammaincinv(d / 2, u))
