"""Multiplicative kernels of log(x + c), x_j > -c: skewed chi-squared and skewed intersection.

Li, Ionescu and Sminchisescu, DAGM 2010. Both are shift-invariant in u = log(x + c).
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernbench.kernels.base import Kernel, require_positive


@dataclass(frozen=True)
class SkewedKernel(Kernel):
    """Base class of the skewed kernels, functions of u = log(x + c).

    Parameters
    ----------
    c : float, default=1.0
        Skewness, in the units of x.
    """

    c: float = 1.0
    translation_invariant: ClassVar[bool] = True
    keeps_zeros: ClassVar[bool] = False
    coordinatewise: ClassVar[bool] = True
    lower_is_open: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, c=self.c)

    @property
    def lower(self) -> Any:
        return -float(self.c)

    def lift(self, values: Any) -> Any:
        return np.log(values + self.c)


@dataclass(frozen=True)
class SkewedChiSquared(SkewedKernel):
    """k(x, z) = prod_j 2 sqrt(x_j + c) sqrt(z_j + c) / (x_j + z_j + 2c), x_j > -c.

    Parameters
    ----------
    c : float, default=1.0
        Skewness, in the units of x.
    """

    routine: ClassVar[str] = "sech"  # prod_j 1 / cosh((u_j - v_j) / 2)
    n_streams: ClassVar[int] = 2

    @property
    def unit(self) -> Any:
        return 4.0

    def streams(self, values: Any) -> Any:
        # cosh(2 (s - t)) = 1 + (p_s q_t - q_s p_t)^2: pairs need no exponential.
        with np.errstate(over="ignore"):
            return np.exp(values) * 2**-0.25, np.exp(-values) * 2**-0.25


@dataclass(frozen=True)
class SkewedIntersection(SkewedKernel):
    """k(x, z) = prod_j min(sqrt((x_j + c) / (z_j + c)), sqrt((z_j + c) / (x_j + c))), x_j > -c.

    Parameters
    ----------
    c : float, default=1.0
        Skewness, in the units of x.
    """

    routine: ClassVar[str] = "laplacian"  # exp(-|u - v|_1 / 2)

    @property
    def constants(self) -> Any:
        return (0.5,)
