"""Kernels of the difference x - z: Gaussian, Laplacian, Cauchy, Matérn."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernbench.kernels.base import Kernel, require_positive, row_sums

LARGEST_NU = 500  # of Matern: above, the series for small distances loses digits


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(x, z) = exp(-||x - z||^2 / (2 sigma^2)); scikit-learn's gamma is 1 / (2 sigma^2).

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale, in the units of x.
    """

    sigma: float = 1.0
    routine: ClassVar[str] = "gaussian"
    translation_invariant: ClassVar[bool] = True
    norm_factor: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        require_positive(self, sigma=self.sigma)

    @property
    def unit(self) -> Any:
        return float(self.sigma)

    @property
    def constants(self) -> Any:
        return (0.5,)  # the engine divides rows by `unit`

    def of_differences(self) -> Any:
        """Return the same kernel computed from squared differences, which is slower but accurate at any distance."""
        return GaussianOfDifferences(self.sigma)


@dataclass(frozen=True)
class GaussianOfDifferences(Gaussian):
    """The Gaussian kernel, computed from squared differences of entries.

    The engine uses it in place of `Gaussian` if |x|^2 + |z|^2 - 2 <x, z> would be dominated by rounding errors, so that
    not even k(x, x) would be 1.
    """

    routine: ClassVar[str] = "gaussian-of-differences"
    coordinatewise: ClassVar[bool] = True
    keeps_zeros: ClassVar[bool] = False
    norm_factor: ClassVar[float | None] = None


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(-||x - z||_1 / sigma); scikit-learn's gamma is 1 / sigma.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale, in the units of x.
    """

    sigma: float = 1.0
    routine: ClassVar[str] = "laplacian"
    translation_invariant: ClassVar[bool] = True
    coordinatewise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, sigma=self.sigma)

    @property
    def unit(self) -> Any:
        return float(self.sigma)

    @property
    def constants(self) -> Any:
        return (1.0,)  # the engine divides rows by `unit`

    def row_terms(self, rows: Any, lengths: Any) -> Any:
        return row_sums(abs(rows))


@dataclass(frozen=True)
class Cauchy(Kernel):
    """k(x, z) = prod_j 1 / (1 + ((x_j - z_j) / sigma)^2).

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale, in the units of x.
    """

    sigma: float = 1.0
    routine: ClassVar[str] = "cauchy"
    translation_invariant: ClassVar[bool] = True
    coordinatewise: ClassVar[bool] = True
    keeps_zeros: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, sigma=self.sigma)

    @property
    def unit(self) -> Any:
        return float(self.sigma)


@dataclass(frozen=True)
class Matern(Kernel):
    """k(x, z) = 2^(1-nu) / Gamma(nu) t^nu K_nu(t), t = sqrt(2 nu) ||x - z|| / length_scale.

    K_nu is the modified Bessel function of the second kind. nu = 1/2, 3/2 and 5/2 are computed by their closed forms,
    other orders by interpolation in a table (made once for each order, in some milliseconds) with an error of at most
    2e-7 in float32, and in float64 from 1e-14 to, at nu = 500, 1e-12.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness, at most 500; for larger values use the limit, ``Gaussian(length_scale)``.
    length_scale : float, default=1.0
        In the units of x; as in scikit-learn's ``gaussian_process.kernels.Matern``.
    """

    nu: float = 1.5
    length_scale: float = 1.0
    routine: ClassVar[str] = "matern"
    translation_invariant: ClassVar[bool] = True
    norm_factor: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        require_positive(self, nu=self.nu, length_scale=self.length_scale)
        if self.nu > LARGEST_NU:
            raise ValueError(
                f"Matern: nu must be at most {LARGEST_NU}, got {self.nu!r}: take "
                "Gaussian(sigma=length_scale), the limit of large nu"
            )

    @property
    def unit(self) -> Any:
        return float(self.length_scale) / float(np.sqrt(2.0 * self.nu))

    @property
    def constants(self) -> Any:
        return (float(self.nu),)
