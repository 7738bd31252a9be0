"""Kernels of the sum x + z on x_j >= 0: exponential and reciprocal semigroup (Yang et al., CVPR 2014)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from kernbench._typing import Rows
from kernbench.kernels.base import Kernel, require_positive, row_sums


@dataclass(frozen=True)
class ExponentialSemigroup(Kernel):
    """k(x, z) = exp(-beta sum_j sqrt(x_j + z_j)), x_j >= 0.

    Parameters
    ----------
    beta : float, default=1.0
        > 0.
    """

    beta: float = 1.0
    routine: ClassVar[str] = "exponential-semigroup"
    keeps_zeros: ClassVar[bool] = False
    coordinatewise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, beta=self.beta)

    @property
    def lower(self) -> Any:
        return 0.0

    @property
    def constants(self) -> Any:
        return (float(self.beta),)

    def diagonal(self, X: Rows) -> Any:
        return np.exp(-self.beta * np.sqrt(2.0) * row_sums(np.sqrt(_as_float64(X))))


@dataclass(frozen=True)
class ReciprocalSemigroup(Kernel):
    """k(x, z) = prod_j lam / (x_j + z_j + lam), x_j >= 0.

    Parameters
    ----------
    lam : float, default=1.0
        > 0, in the units of x.
    """

    lam: float = 1.0
    routine: ClassVar[str] = "reciprocal-semigroup"
    keeps_zeros: ClassVar[bool] = False
    coordinatewise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_positive(self, lam=self.lam)

    @property
    def lower(self) -> Any:
        return 0.0

    @property
    def unit(self) -> Any:
        return float(self.lam)

    def diagonal(self, X: Rows) -> Any:
        X = _as_float64(X)
        logs = (X * (2.0 / self.lam)).log1p() if sparse.issparse(X) else np.log1p(X * (2.0 / self.lam))
        return np.exp(-row_sums(logs))


def _as_float64(X):
    """Return X in float64: NumPy's square root of 8-bit integers is float16."""
    return X.astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
