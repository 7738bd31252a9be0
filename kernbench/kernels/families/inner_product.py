"""Kernels of the inner product <x, z>: linear, cosine, polynomial, power series, sigmoid, arc-cosine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, ldexp, log2
from typing import Any, ClassVar

import numpy as np

from kernbench._typing import Rows
from kernbench.kernels.base import Kernel, require_integer, require_not_negative, require_positive, squared_norms
from kernbench.validation.numbers import check_number

SMALLEST = float(np.finfo(np.float32).tiny)
LARGEST_EXPONENT = 120  # power of 2 of the largest coefficient of a power series, within the range of float32


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    routine: ClassVar[str] = "polynomial"
    refuses_infinity: ClassVar[bool] = False

    @property
    def constants(self) -> Any:
        return (1.0, 0.0, 1.0)

    def diagonal(self, X: Rows) -> Any:
        return squared_norms(X)


@dataclass(frozen=True)
class CentredLinear(Kernel):
    """k(x, z) = <x - c, z - c>, expanded, so that sparse rows stay sparse.

    Used internally by estimators that centre columns (:mod:`kernbench.estimators.fit.centring`). Users can subtract c
    from dense rows instead.

    Parameters
    ----------
    centre : sequence of float
        c, one number for each column; not larger than the rows themselves, or the terms cancel.
    """

    centre: tuple
    routine: ClassVar[str] = "centred"
    refuses_infinity: ClassVar[bool] = False

    def __post_init__(self):
        object.__setattr__(self, "centre", tuple(map(float, self.centre)))

    def row_terms(self, rows, lengths):
        centre = np.array(self.centre)
        return rows.astype(np.float64) @ centre - 0.5 * (centre @ centre)

    def diagonal(self, X):
        return np.maximum(squared_norms(X) - 2.0 * self.row_terms(X, None), 0.0)


@dataclass(frozen=True)
class Cosine(Kernel):
    """k(x, z) = <x, z> / (||x|| ||z||), the cosine of the angle; 0 where x or z is 0."""

    routine: ClassVar[str] = "polynomial"  # linear in the rows of length 1
    unit_rows: ClassVar[bool] = True

    @property
    def constants(self) -> Any:
        return (1.0, 0.0, 1.0)

    def diagonal(self, X: Rows) -> Any:
        return np.asarray((X != 0).sum(axis=1) > 0, dtype=np.float64).ravel()


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (scale <x, z> + c)^degree.

    Parameters
    ----------
    degree : int, default=3
        At least 1, below 2^31.
    c : float, default=1.0
        At least 0, so that the kernel is positive semi-definite.
    scale : float, default=1.0
        scikit-learn's ``gamma``.
    """

    degree: int = 3
    c: float = 1.0
    scale: float = 1.0
    routine: ClassVar[str] = "polynomial"
    refuses_infinity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, degree=self.degree, scale=self.scale)
        require_integer(self, 1, degree=self.degree)
        check_number("Polynomial: degree", self.degree, below=2**31)  # an int of the compiled loop
        require_not_negative(self, c=self.c)

    @property
    def constants(self) -> Any:
        return (float(self.scale), float(self.c), float(self.degree))

    def diagonal(self, X: Rows) -> Any:
        return (self.scale * squared_norms(X) + self.c) ** int(self.degree)


@dataclass(frozen=True)
class DotProduct(Kernel):
    """k(x, z) = sum_n coefficients[n] <x, z>^n.

    Parameters
    ----------
    coefficients : sequence of float, default=(1, 1, 1/2, 1/6, 1/24)
        Each at least 0 (so that the kernel is positive semi-definite), not all 0. ``DotProduct.exponential(n)``
        gives the first n of exp(<x, z>).
    """

    coefficients: Sequence[float] = (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24)
    routine: ClassVar[str] = "power-series"
    refuses_infinity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.coefficients, str) or not isinstance(self.coefficients, Iterable):
            raise ValueError(f"DotProduct: coefficients must be a sequence of numbers, got {self.coefficients!r}")
        coefficients = tuple(self.coefficients)
        for n, value in enumerate(coefficients):
            require_not_negative(self, **{f"coefficients[{n}]": value})
        if not any(coefficients):
            raise ValueError("DotProduct: at least one of the coefficients must be positive")
        # Hashable, and the same kernel whether it was given as a list or an array.
        object.__setattr__(self, "coefficients", tuple(float(value) for value in coefficients))

    @classmethod
    def exponential(cls, n_terms: int = 12) -> Any:
        """Return the first `n_terms` terms of exp(<x, z>), at least 1: coefficients 1/n!, 0 from n = 171 on."""
        check_number("DotProduct: n_terms", n_terms, at_least=1, whole=True)
        with np.errstate(over="ignore"):  # of the factorials
            return cls(tuple(1.0 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, n_terms)]))))

    @property
    def _used(self) -> Any:
        return self.coefficients[: np.flatnonzero(self.coefficients)[-1] + 1]  # 0 times an infinite power would be NaN

    @property
    def _exponent(self) -> int:
        """The exponent of the power of 2 by which rows are divided, so that the last coefficient is a float32 number.

        Coefficient n grows by 2^(2 n exponent) in return. Powers of 2 cause no rounding: values in float64 stay the
        same to the last bit.
        """
        used, degree = self._used, len(self._used) - 1
        if degree == 0 or used[-1] >= SMALLEST:
            return 0
        wanted = ceil(-log2(used[-1]) / (2 * degree))
        allowed = min(int((LARGEST_EXPONENT - log2(c)) / (2 * n)) for n, c in enumerate(used) if n > 0 and c > 0)
        return max(0, min(wanted, allowed))

    @property
    def unit(self) -> Any:
        return 2.0**self._exponent

    @property
    def constants(self) -> Any:
        exponent = self._exponent
        return tuple(ldexp(c, 2 * exponent * n) for n, c in enumerate(self._used))

    def diagonal(self, X: Rows) -> Any:
        return np.polynomial.polynomial.polyval(squared_norms(X), self.coefficients)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(scale <x, z> + c); not positive semi-definite.

    With this kernel, support vector machines find a stationary point of the dual, as LIBSVM does, but no certified
    optimum; explicit feature maps represent at most its positive part.

    Parameters
    ----------
    scale : float, default=1.0
        scikit-learn's ``gamma``.
    c : float, default=0.0
        scikit-learn's ``coef0``, of either sign.
    """

    scale: float = 1.0
    c: float = 0.0
    routine: ClassVar[str] = "sigmoid"
    is_semi_definite: ClassVar[bool] = False
    refuses_infinity: ClassVar[bool] = False

    def __post_init__(self) -> None:
        require_positive(self, scale=self.scale)
        check_number("Sigmoid: c", self.c)

    @property
    def constants(self) -> Any:
        return (float(self.scale), float(self.c))

    def diagonal(self, X: Rows) -> Any:
        return np.tanh(self.scale * squared_norms(X) + self.c)


@dataclass(frozen=True)
class ArcCosine(Kernel):
    """k(x, z) = (1/pi) ||x||^n ||z||^n J_n(theta), theta the angle between x and z (Cho and Saul, NIPS 2009).

    J_0 = pi - theta, J_1 = sin theta + (pi - theta) cos theta,
    J_2 = 3 sin theta cos theta + (pi - theta) (1 + 2 cos^2 theta): the kernel of an infinitely wide layer of step,
    rectified linear or squared rectified linear units. Where x or z is 0, order 0 has the value 1/2.

    Parameters
    ----------
    order : {0, 1, 2}, default=1
    """

    order: int = 1
    routine: ClassVar[str] = "arc-cosine"
    unit_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_integer(self, 0, order=self.order)
        if self.order > 2:
            raise ValueError(f"ArcCosine: order must be 0, 1 or 2, got {self.order!r}")

    @property
    def constants(self) -> Any:
        return (float(self.order),)

    def row_terms(self, rows: Any, lengths: Any) -> Any:
        return lengths ** int(self.order)

    def diagonal(self, X: Rows) -> Any:
        squares = squared_norms(X)
        if self.order == 0:
            return np.where(squares > 0, 1.0, 0.5)
        return squares if self.order == 1 else 3.0 * squares**2
