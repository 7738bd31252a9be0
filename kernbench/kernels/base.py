"""The base class of kernels, which are frozen dataclasses that can be called on two sets of rows; sums and products.

A kernel object defines the function k; the compiled engine computes tiles of its values, from the kernel's `routine`
and `constants`. Before that, rows are prepared in float64: checked against the kernel's domain, *lifted* entry by entry
(square root, logarithm, ...), centred, and divided by the kernel's `unit` (see
:mod:`kernbench.kernels.engine.operands.prepared`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from kernbench._typing import Rows
from kernbench.kernels.blocks import checked_block, checked_rows
from kernbench.validation.arrays import check_indices
from kernbench.validation.numbers import check_number, is_number


def require_positive(owner, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are positive numbers."""
    for name, value in parameters.items():
        check_number(f"{type(owner).__name__}: {name}", value, above=0)


def require_not_negative(owner, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are numbers of at least 0."""
    for name, value in parameters.items():
        check_number(f"{type(owner).__name__}: {name}", value, at_least=0)


def require_integer(owner, low, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are whole numbers (2 or 2.0) of at least `low`."""
    for name, value in parameters.items():
        whole = int(value) if is_number(value) and value == int(value) else value
        check_number(f"{type(owner).__name__}: {name}", whole, at_least=low, whole=True)


@dataclass(frozen=True)
class Kernel:
    """Base class of all kernels: calling a kernel on two sets of rows returns the matrix of its values.

    Attributes
    ----------
    routine : str
        Name of the compiled routine that computes the values (`ROUTINES` of the engine).
    constants : tuple of float
        Parameters of `routine`.
    unit : float
        The divisor of lifted rows, applied while they are still in float64.
    translation_invariant : bool
        Whether values do not change if all lifted rows are shifted: the engine then centres them, so that rounding
        errors stay small.
    keeps_zeros : bool
        Whether `lift` maps 0 to 0, and a zero entry in either row adds nothing, so that sparse rows stay sparse.
    coordinatewise : bool
        Whether values are sums or products with one term for each feature; otherwise they are a function of the inner
        product of the prepared rows.
    norm_factor : float or None
        The terms of rows (see `row_terms`) are this multiple of their squared norms; None if they are something else.
    unit_rows : bool
        Whether prepared rows are scaled to norm 1 each, instead of being divided by `unit`.
    n_streams : int
        Number of arrays that `streams` returns.
    refuses_infinity : bool
        Whether prepared rows that leave the range of the precision raise an error; otherwise infinities are passed on.
    lower : float or None
        Entries below this value (or equal to it, if `lower_is_open`) are outside the kernel's domain.
    components : tuple of Kernel
        The kernels that a sum or product combines.
    calls_python : bool
        Whether values, or those of a component, come from a Python function.
    is_semi_definite : bool
        Whether every matrix of values is positive semi-definite by construction; False if that is unknown.
    """

    routine: ClassVar[str]
    translation_invariant: ClassVar[bool] = False
    keeps_zeros: ClassVar[bool] = True
    coordinatewise: ClassVar[bool] = False
    norm_factor: ClassVar[float | None] = None
    unit_rows: ClassVar[bool] = False
    n_streams: ClassVar[int] = 1
    refuses_infinity: ClassVar[bool] = True
    lower_is_open: ClassVar[bool] = False
    calls_python: ClassVar[bool] = False
    is_semi_definite: ClassVar[bool] = True
    components: ClassVar[tuple[Any, ...]] = ()

    @property
    def unit(self) -> Any:
        return 1.0

    @property
    def constants(self) -> Any:
        return ()

    @property
    def lower(self) -> Any:
        return None

    @property
    def restricts_domain(self) -> Any:
        """Whether `check_domain` may reject rows."""
        return self.lower is not None or type(self).check_domain is not Kernel.check_domain

    @property
    def lifts(self) -> Any:
        """Whether `lift` changes entries."""
        return type(self).lift is not Kernel.lift

    def lift(self, values: Any) -> Any:
        """Return the entries transformed for the engine, before `unit`: float64 in, float64 out, element by element."""
        return values

    def streams(self, values: Any) -> Any:
        """Return the `n_streams` arrays of numbers that the engine holds for prepared entries; float64."""
        return (values,)

    def row_terms(self, rows: Rows, lengths: np.ndarray) -> Any:
        """Return the number for each row that the engine combines with inner products (or sums over entries), or None.

        For the Gaussian kernel, for example, half the squared norm, since ``|x - z|² = |x|² + |z|² - 2 <x, z>``.

        Parameters
        ----------
        rows : ndarray or CSR matrix of shape (n, d)
            Prepared, and rounded to the precision of the kernel values.
        lengths : ndarray of shape (n,), or None
            The divisors of the rows, if the kernel has `unit_rows`.
        """
        return None if self.norm_factor is None else self.norm_factor * squared_norms(rows)

    def __call__(
        self, X: Rows, Z: Rows | None = None, *, dtype: str | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the matrix k(x_i, z_j).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
        Z : array-like or CSR matrix of shape (m, d), optional
            X by default.
        dtype : {float32, float64}, optional
            Precision of the result; by default that of `out`, else float32 if X is float32, and float64 otherwise.
        out : ndarray of shape (n, m), optional
            Where to write the result, C-contiguous.

        Returns
        -------
        ndarray of shape (n, m)

        Raises
        ------
        ValueError
            If an entry is NaN, infinite or outside the kernel's domain (the message names row and column), or the
            indices of a sparse matrix are out of bounds.
        """
        return checked_block(self, X, Z, dtype=dtype, out=out)

    def diag(self, X: Rows) -> np.ndarray:
        """Return k(x_i, x_i) for every row.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)

        Returns
        -------
        ndarray of shape (n,), float64

        Raises
        ------
        ValueError
            As for a call of the kernel.
        """
        X = checked_rows(self, X)
        self.check_domain(X)
        return self.diagonal(X)

    def diagonal(self, X: Rows) -> Any:
        """Return `diag` of an array or CSR matrix that has been checked."""
        return np.ones(X.shape[0])

    def __add__(self, other: Any) -> Any:
        """The kernel k(x, z) + k'(x, z)."""
        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        """The kernel k(x, z) k'(x, z), or k(x, z) times a positive number."""
        if isinstance(other, Kernel):
            return Product((self, other))
        return Sum((self,), (float(other),)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def check_domain(self, X: Rows, feature_names: Sequence[Any] | None = None) -> Any:
        """Raise ValueError if an entry of X is outside the kernel's domain; NaN is ignored.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
        feature_names : sequence of str, optional
            Used in the message.
        """
        lower = self.lower
        values = X.data if sparse.issparse(X) else X
        if lower is None or values.size == 0:
            return
        # First the smallest entry: a mask of all entries would be as large as the data.
        smallest = float(np.fmin.reduce(values, axis=None))
        if not (smallest <= lower if self.lower_is_open else smallest < lower):
            return
        if sparse.issparse(X):
            place = int(np.flatnonzero(values == smallest)[0])
            row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
        else:
            row, column = (int(index) for index in np.argwhere(values == smallest)[0])
        name = column if feature_names is None else repr(str(feature_names[column]))
        what = "Negative values in data: " if lower == 0 else ""  # as scikit-learn's checks of estimators have it
        raise ValueError(
            f"{what}{type(self).__name__} needs entries x {'>' if self.lower_is_open else '>='} {lower:g}, but column "
            f"{name} holds {smallest:g} (row {row}): shift or clip the column, or choose another kernel"
        )


@dataclass(frozen=True)
class _Combination(Kernel):
    """Base class of sums and products."""

    kernels: Sequence[Any]

    def _set_components(self):
        """Check `kernels` and make them a tuple."""
        kernels, name = tuple(self.kernels), type(self).__name__
        if not kernels:
            raise ValueError(f"{name}: at least one kernel is needed")
        for kernel in kernels:
            if not isinstance(kernel, Kernel):
                raise ValueError(f"{name}: every component must be a kernel object, got {kernel!r}")
        if any(kernel.routine == "precomputed" for kernel in kernels):
            raise ValueError(f"{name}: a precomputed kernel cannot be a component; combine the matrices instead")
        object.__setattr__(self, "kernels", kernels)

    @property
    def components(self) -> Any:
        return self.kernels

    @property
    def calls_python(self) -> Any:
        return any(kernel.calls_python for kernel in self.kernels)

    @property
    def is_semi_definite(self) -> Any:
        return all(kernel.is_semi_definite for kernel in self.kernels)

    def check_domain(self, X: Rows, feature_names: Any = None) -> None:
        for kernel in self.kernels:
            kernel.check_domain(X, feature_names)


@dataclass(frozen=True)
class Sum(_Combination):
    """k(x, z) = sum_i weights[i] kernels[i](x, z); also written ``k1 + k2`` and ``0.5 * k1 + k2``.

    Parameters
    ----------
    kernels : sequence of Kernel
    weights : sequence of float, optional
        Positive, one for each kernel; by default all are 1.
    """

    weights: Sequence[float] | None = None
    routine: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        self._set_components()
        kernels = self.kernels
        weights = (1.0,) * len(kernels) if self.weights is None else tuple(self.weights)
        if len(weights) != len(kernels):
            raise ValueError(f"Sum: {len(kernels)} kernels need as many weights, got {len(weights)}")
        for i, weight in enumerate(weights):
            require_positive(self, **{f"weights[{i}]": weight})
        # A sum of sums is stored as one sum, so that (a + b) + c equals a + (b + c).
        terms = [
            (component, weight * inner)
            for kernel, weight in zip(kernels, weights)
            for component, inner in (
                zip(kernel.kernels, kernel.weights) if isinstance(kernel, Sum) else ((kernel, 1.0),)
            )
        ]
        object.__setattr__(self, "kernels", tuple(component for component, _ in terms))
        object.__setattr__(self, "weights", tuple(float(weight) for _, weight in terms))

    @property
    def constants(self) -> Any:
        return self.weights

    def diagonal(self, X: Rows) -> Any:
        return sum(weight * kernel.diagonal(X) for kernel, weight in zip(self.kernels, self.weights))


@dataclass(frozen=True)
class Product(_Combination):
    """k(x, z) = prod_i kernels[i](x, z); also written ``k1 * k2``.

    Parameters
    ----------
    kernels : sequence of Kernel
    """

    routine: ClassVar[str] = "product"

    def __post_init__(self) -> None:
        self._set_components()
        factors = [
            factor
            for kernel in self.kernels
            for factor in (kernel.kernels if isinstance(kernel, Product) else (kernel,))
        ]
        object.__setattr__(self, "kernels", tuple(factors))

    def diagonal(self, X: Rows) -> Any:
        return prod(np.asarray(kernel.diagonal(X)) for kernel in self.kernels)


def squared_norms(X):
    """Return |x_i|^2 for every row, summed in float64, shape (n,)."""
    check_indices(X)
    if sparse.issparse(X):
        squares = X.astype(np.float64).power(2)
        return np.asarray(squares.sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64, casting="same_kind")


def row_sums(X):
    """Return the sum of each row's entries, float64, shape (n,)."""
    check_indices(X)
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
