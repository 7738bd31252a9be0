"""What every kernel is: a small frozen dataclass with its parameters, callable on two sets of rows.

A kernel defines the values; the compiled engine computes tiles of them, by the kernel's `routine` and `constants`.
In between, rows are prepared in float64: checked against the kernel's domain, *lifted* entry by entry (square root,
logarithm, ...), centred, and divided by the kernel's `unit` (see :mod:`kernbench.kernels.engine.prepared`).
"""

from dataclasses import dataclass
from importlib import import_module
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from scipy import sparse


def require_positive(owner, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are positive finite numbers."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(value) and value > 0):
            raise ValueError(
                f"{type(owner).__name__}: {name} must be a positive finite number, got {value!r}"
            )


def require_not_negative(owner, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are finite numbers of at least 0."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(value) and value >= 0):
            raise ValueError(f"{type(owner).__name__}: {name} must be at least 0 and finite, got {value!r}")


def require_integer(owner, low, **parameters):
    """Raise ValueError unless all `parameters` of the kernel `owner` are whole numbers of at least `low`."""
    for name, value in parameters.items():
        whole = isinstance(value, Integral) or (isinstance(value, Real) and value == int(value))
        if not whole or value < low:
            raise ValueError(
                f"{type(owner).__name__}: {name} must be an integer of at least {low}, got {value!r}"
            )


@dataclass(frozen=True)
class Kernel:
    """Base of all kernels: call it on two sets of rows to get the matrix of its values.

    Attributes
    ----------
    routine : str
        Name of the compiled routine that computes the values (`ROUTINES` of the engine).
    constants : tuple of float
        The numbers that `routine` needs.
    unit : float
        What lifted rows are divided by while they are still in float64.
    translation_invariant : bool
        Lifted rows may be moved together: the engine puts the origin among them, so that rounding stays small.
    keeps_zeros : bool
        `lift` maps 0 to 0, and a zero entry of either row adds nothing: sparse rows stay sparse.
    coordinatewise : bool
        Values are sums or products over the features of one term each; otherwise they are a function of the inner
        product of the prepared rows.
    norm_factor : float or None
        The terms of rows are this multiple of their squared norms; other terms are returned by `row_terms`.
    unit_rows : bool
        Prepared rows are scaled to length 1 each, instead of by `unit`.
    n_streams : int
        How many numbers `streams` makes of one entry.
    refuses_infinity : bool
        Prepared rows that leave the range of the precision raise an error; otherwise infinities are passed on.
    lower : float or None
        Entries below this (or equal to it, where `lower_is_open`) are outside the kernel's domain.
    components : tuple of Kernel
        The kernels that a sum or product combines.
    calls_python : bool
        Values, or those of a component, come from a Python function.
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
    components: ClassVar[tuple] = ()

    @property
    def unit(self):
        return 1.0

    @property
    def constants(self):
        return ()

    @property
    def lower(self):
        return None

    def lift(self, values):
        """Return the entries as the engine takes them, before `unit`: float64 in, float64 out, element by element."""
        return values

    def streams(self, values):
        """Return the `n_streams` arrays of numbers that the engine holds for prepared entries; float64."""
        return (values,)

    def row_terms(self, rows, lengths):
        """Return a number for each row that inner products (or sums over stored entries) are completed with, or None.

        Parameters
        ----------
        rows : ndarray or CSR matrix of shape (n, d)
            Prepared and rounded.
        lengths : ndarray of shape (n,), or None
            What the rows were divided by, where the kernel has `unit_rows`.
        """
        return None if self.norm_factor is None else self.norm_factor * squared_norms(rows)

    def __call__(self, X, Z=None, *, dtype=None, out=None):
        """Return the matrix k(x_i, z_j).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
        Z : array-like or CSR matrix of shape (m, d), optional
            X by default.
        dtype : {float32, float64}, optional
            Precision of the result; by default that of `out` or X (float64 for anything but float32).
        out : ndarray of shape (n, m), optional
            Where to write the result, C-contiguous.

        Returns
        -------
        ndarray of shape (n, m)

        Raises
        ------
        ValueError
            For NaN and infinity, and if an entry is outside the kernel's domain (the message names row and column).
        """
        from kernbench.kernels.blocks import block, checked_rows

        return block(self, checked_rows(X), None if Z is None else checked_rows(Z, "Z"), dtype=dtype, out=out)

    def diag(self, X):
        """Return k(x_i, x_i) for every row, float64, shape (n,)."""
        return np.ones(X.shape[0])

    def random_features(self, n_features, random_state=None, **options):
        """Return a transformer whose features have this kernel as their expected inner product.

        Parameters
        ----------
        n_features : int
        random_state : int, Generator or None
        **options
            Of `kernbench.features.RandomFeatures`.

        Returns
        -------
        RandomFeatures
            Not fitted yet.
        """
        # The one look upstairs: a convenience for users, which nothing on this floor depends on.
        return import_module("kernbench.features").RandomFeatures(
            self, n_features, random_state=random_state, **options
        )

    def __add__(self, other):
        """The kernel k(x, z) + k'(x, z)."""
        return self._combined("Sum", other)

    def __mul__(self, other):
        """The kernel k(x, z) k'(x, z), or k(x, z) times a positive number."""
        return self._combined("Product", other)

    __rmul__ = __mul__

    def _combined(self, how, other):
        from kernbench.kernels.families import combined

        if isinstance(other, Kernel):
            return getattr(combined, how)((self, other))
        if how == "Product" and isinstance(other, Real):
            return combined.Sum((self,), (float(other),))
        return NotImplemented

    def check_domain(self, X, feature_names=None):
        """Raise ValueError if an entry of X is outside the kernel's domain; NaN is ignored.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
        feature_names : sequence of str, optional
            For the message.
        """
        lower = self.lower
        values = X.data if sparse.issparse(X) else X
        if lower is None or values.size == 0:
            return
        # One number first: a mask of all entries would be as large as the data.
        smallest = float(np.fmin.reduce(values, axis=None))
        if not (smallest <= lower if self.lower_is_open else smallest < lower):
            return
        if sparse.issparse(X):
            place = int(np.flatnonzero(values == smallest)[0])
            row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
        else:
            row, column = (int(index) for index in np.argwhere(values == smallest)[0])
        name = column if feature_names is None else repr(str(feature_names[column]))
        raise ValueError(
            f"{type(self).__name__} needs entries x {'>' if self.lower_is_open else '>='} {lower:g}, but column {name} "
            f"holds {smallest:g} (row {row}): shift or clip the column, or choose another kernel"
        )


def squared_norms(X):
    """Return |x_i|^2 for every row, summed in float64, shape (n,)."""
    if sparse.issparse(X):
        squares = X.astype(np.float64).power(2)
        return np.asarray(squares.sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def row_sums(X):
    """Return the sum of each row's entries, float64, shape (n,)."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
