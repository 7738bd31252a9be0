"""The kernels k(x, z), each a small frozen dataclass with its parameters.

A kernel says what it computes; *how* a tile of it is computed fast is the business of the compiled engine,
which a kernel addresses by `form` (the family of the computation) and `constants` (its numbers).
"""

from collections.abc import Callable as CallableType
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy import sparse


def _require_positive(owner, **parameters):
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(value) and value > 0):
            raise ValueError(f"{type(owner).__name__}: {name} must be a positive finite number, got {value!r}")


@dataclass(frozen=True)
class Kernel:
    """Base of all kernels: call it on two sets of rows to get the matrix of its values."""

    form: ClassVar[str]

    @property
    def unit(self):
        """Number that the engine divides rows by while they are still in float64."""
        return 1.0

    @property
    def constants(self):
        """Numbers the compiled engine needs, as a tuple of floats."""
        return ()

    def __call__(self, X, Z=None, *, dtype=None):
        """Return the matrix k(x_i, z_j).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
        Z : array-like or CSR matrix of shape (m, d), optional
            X by default.
        dtype : {float32, float64}, optional
            Precision of the result; by default that of X (float64 for anything but float32).

        Returns
        -------
        ndarray of shape (n, m)
        """
        from kernbench.kernels.blocks import block

        return block(self, X, X if Z is None else Z, dtype=dtype)

    def diag(self, X):
        """Return k(x_i, x_i) for every row, float64, shape (n,)."""
        return np.ones(X.shape[0])


def _squared_norms(X):
    if sparse.issparse(X):
        squares = X.astype(np.float64).power(2)
        return np.asarray(squares.sum(axis=1)).ravel()
    X = np.asarray(X, dtype=np.float64)
    return np.einsum("ij,ij->i", X, X)


@dataclass(frozen=True)
class Linear(Kernel):
    """k(x, z) = <x, z>."""

    form: ClassVar[str] = "polynomial"

    @property
    def constants(self):
        return (1.0, 0.0, 1.0)

    def diag(self, X):
        return _squared_norms(X)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (scale <x, z> + c)^degree.

    Parameters
    ----------
    degree : int, default=3
        At least 1.
    c : float, default=1.0
        At least 0, so that the kernel is positive semi-definite.
    scale : float, default=1.0
        scikit-learn's ``gamma``.
    """

    degree: int = 3
    c: float = 1.0
    scale: float = 1.0
    form: ClassVar[str] = "polynomial"

    def __post_init__(self):
        _require_positive(self, degree=self.degree, scale=self.scale)
        if self.degree != int(self.degree):
            raise ValueError(f"Polynomial: degree must be an integer, got {self.degree!r}")
        if not (isinstance(self.c, Real) and np.isfinite(self.c) and self.c >= 0):
            raise ValueError(f"Polynomial: c must be at least 0, got {self.c!r}")

    @property
    def constants(self):
        return (float(self.scale), float(self.c), float(self.degree))

    def diag(self, X):
        return (self.scale * _squared_norms(X) + self.c) ** int(self.degree)


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(x, z) = exp(-||x - z||^2 / (2 sigma^2)); scikit-learn's gamma is 1 / (2 sigma^2).

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale, in the units of x.
    """

    sigma: float = 1.0
    form: ClassVar[str] = "gaussian"

    def __post_init__(self):
        _require_positive(self, sigma=self.sigma)

    @property
    def unit(self):
        return float(self.sigma)

    @property
    def constants(self):
        return (0.5,)  # the engine divides rows by `unit`


@dataclass(frozen=True)
class Laplacian(Kernel):
    """k(x, z) = exp(-||x - z||_1 / sigma); scikit-learn's gamma is 1 / sigma.

    Parameters
    ----------
    sigma : float, default=1.0
        Length scale, in the units of x.
    """

    sigma: float = 1.0
    form: ClassVar[str] = "laplacian"

    def __post_init__(self):
        _require_positive(self, sigma=self.sigma)

    @property
    def unit(self):
        return float(self.sigma)

    @property
    def constants(self):
        return (1.0,)  # the engine divides rows by `unit`


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself takes the place of X: X[i, j] = k(x_i, z_j)."""

    form: ClassVar[str] = "precomputed"

    def diag(self, X):
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be square, got shape {X.shape}")
        return np.asarray(X.diagonal() if sparse.issparse(X) else np.diagonal(X), dtype=np.float64)


@dataclass(frozen=True)
class Callable(Kernel):
    """A Python function ``function(X, Z) -> matrix of shape (len(X), len(Z))``.

    Asked for batches of rows, never for single values, so that a vectorised function stays fast.
    """

    function: CallableType
    form: ClassVar[str] = "callable"

    def __post_init__(self):
        if not callable(self.function):
            raise ValueError(f"Callable: function must be callable, got {self.function!r}")

    def diag(self, X):
        return np.array([self.values(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=np.float64)

    def values(self, X, Z, dtype=np.float64):
        """Return what the function answers, looked at before it is believed; it is never shown empty rows.

        Raises
        ------
        ValueError
            If the answer is not a matrix of finite real numbers, one per pair of rows.
        """
        shape = (X.shape[0], Z.shape[0])
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        answer = np.asarray(self.function(X, Z))
        if answer.shape != shape:
            raise ValueError(f"the kernel function returned shape {answer.shape} for {shape[0]} rows against "
                             f"{shape[1]}; it must return {shape}")
        if answer.dtype.kind not in "biuf":
            raise ValueError(f"the kernel function returned values of type {answer.dtype}; they must be real numbers")
        with np.errstate(over="ignore"):
            answer = np.ascontiguousarray(answer, dtype=dtype)
        if not np.all(np.isfinite(answer)):
            raise ValueError(f"the kernel function returned NaN or infinity (in {np.dtype(dtype)})")
        return answer
