"""Additive kernels on histograms, x_j >= 0: Hellinger, chi-squared, intersection, Jensen-Shannon.

All are homogeneous, k(x, z) = sum_j sqrt(x_j z_j) S(log z_j - log x_j) (Vedaldi and Zisserman, PAMI 2012), and a
coordinate where either row is 0 adds nothing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernbench._typing import Rows
from kernbench.kernels.base import Kernel, require_positive, row_sums


@dataclass(frozen=True)
class HistogramKernel(Kernel):
    """Base class of the additive kernels: their domain, and k(x, x) = sum_j x_j."""

    @property
    def lower(self) -> Any:
        return 0.0

    def diagonal(self, X: Rows) -> Any:
        return row_sums(X)


@dataclass(frozen=True)
class Hellinger(HistogramKernel):
    """k(x, z) = sum_j sqrt(x_j z_j), x_j >= 0."""

    routine: ClassVar[str] = "polynomial"  # linear in the square roots

    @property
    def constants(self) -> Any:
        return (1.0, 0.0, 1.0)

    def lift(self, values: Any) -> Any:
        return np.sqrt(values)


@dataclass(frozen=True)
class ChiSquared(HistogramKernel):
    """k(x, z) = 2 sum_j x_j z_j / (x_j + z_j), x_j >= 0, with 0/0 = 0.

    scikit-learn's ``additive_chi2_kernel``, -sum_j (x_j - z_j)^2 / (x_j + z_j), is 2 k(x, z) - sum_j (x_j + z_j).
    """

    routine: ClassVar[str] = "chi-squared"
    coordinatewise: ClassVar[bool] = True

    @property
    def unit(self) -> Any:
        return 0.5  # the kernel is homogeneous of degree 1: the engine's x z / (x + z) of doubled entries


@dataclass(frozen=True)
class ExponentialChiSquared(Kernel):
    """k(x, z) = exp(-gamma sum_j (x_j - z_j)^2 / (x_j + z_j)), x_j >= 0, with 0/0 = 0: scikit-learn's ``chi2``.

    Parameters
    ----------
    gamma : float, default=1.0
        > 0.
    """

    gamma: float = 1.0
    routine: ClassVar[str] = "exponential-chi-squared"
    coordinatewise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, gamma=self.gamma)

    @property
    def lower(self) -> Any:
        return 0.0

    @property
    def constants(self) -> Any:
        return (float(self.gamma),)

    def row_terms(self, rows: Any, lengths: Any) -> Any:
        return row_sums(rows)


@dataclass(frozen=True)
class Intersection(HistogramKernel):
    """k(x, z) = sum_j min(x_j, z_j), x_j >= 0."""

    routine: ClassVar[str] = "intersection"
    coordinatewise: ClassVar[bool] = True


@dataclass(frozen=True)
class JensenShannon(HistogramKernel):
    """k(x, z) = sum_j x_j/2 log2((x_j + z_j) / x_j) + z_j/2 log2((x_j + z_j) / z_j), x_j >= 0.

    A coordinate with a zero entry adds nothing.
    """

    routine: ClassVar[str] = "jensen-shannon"
    coordinatewise: ClassVar[bool] = True
    n_streams: ClassVar[int] = 2

    @property
    def unit(self) -> Any:
        return 2.0  # the kernel is homogeneous of degree 1: its 1/2 goes into the entries

    def streams(self, values: Any) -> Any:
        return values, np.log2(values, out=np.zeros_like(values), where=values > 0)
