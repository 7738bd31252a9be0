"""Kernel values and rows in plain NumPy, float64: the reference of the compiled engine.

`KernelRows` has the interface of its compiled twin, so that every solver runs on either.
"""

from math import prod

import numpy as np
from scipy import sparse

from kernbench.kernels.functions import Callable, Precomputed, Product, Sum
from kernbench.reference.kernels.formulas import FORMULAS, dense

MATVEC_ROWS = 512  # rows of K held at a time by `KernelRows.matvec`


def evaluate(kernel, X, Z=None):
    """Return the matrix k(x_i, z_j).

    Parameters
    ----------
    kernel : Kernel
        Any of :mod:`kernbench.kernels.functions`; the formulas are in :mod:`kernbench.reference.kernels.formulas`.
    X : ndarray or CSR matrix of shape (n, d)
        For `Precomputed`, the kernel values themselves.
    Z : ndarray or CSR matrix of shape (m, d), optional
        X by default; unused by `Precomputed`.

    Returns
    -------
    ndarray of shape (n, m), float64

    Raises
    ------
    ValueError
        For an unknown kernel, an entry outside the kernel's domain, or a function that returns the wrong shape.
    """
    X = _as_float64(X)
    if isinstance(kernel, Precomputed):
        return dense(X)
    Z = X if Z is None else _as_float64(Z)
    match kernel:
        case Sum(kernels=parts, weights=weights):
            return sum(weight * evaluate(part, X, Z) for part, weight in zip(parts, weights))
        case Product(kernels=parts):
            return prod(evaluate(part, X, Z) for part in parts)
        case Callable(function=function):
            values = np.asarray(function(X, Z), dtype=np.float64)
            if values.shape != (X.shape[0], Z.shape[0]):
                raise ValueError(
                    f"the kernel function must return shape {(X.shape[0], Z.shape[0])}, got {values.shape}"
                )
            return values
    if type(kernel) not in FORMULAS:
        raise ValueError(f"no reference for the kernel {kernel!r}")
    kernel.check_domain(X)
    kernel.check_domain(Z)
    return FORMULAS[type(kernel)](kernel, X, Z)


def _as_float64(X):
    return X.tocsr().astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


class KernelRows:
    """Rows, batches and blocks of the kernel matrix of one data set, recomputed each time.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        For `Precomputed`, the kernel matrix of shape (n, n).
    kernel : Kernel
    cache_bytes : int, default=0
        Ignored, for compatibility with the compiled twin.
    dtype : {float32, float64}, default=float64
        Precision of the returned values; they are computed in float64.

    Attributes
    ----------
    n_rows : int
    dtype : dtype
    n_evaluations : int
        Kernel values returned so far by `row`, `batch` and `block`.
    n_cached : int
        Always 0.

    Raises
    ------
    ValueError
        If a precomputed matrix is not square.
    """

    n_cached = 0

    def __init__(self, X, kernel, *, cache_bytes=0, dtype=np.float64):
        self._X, self._kernel = _as_float64(X), kernel
        self.dtype = np.dtype(dtype)
        self.n_rows = self._X.shape[0]
        self.n_evaluations = 0
        if isinstance(kernel, Precomputed) and self._X.shape[0] != self._X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be square, got shape {self._X.shape}")

    def release(self):
        """Return to all rows; none is ever left out here."""

    def diagonal(self):
        """Return k(x_i, x_i) for all i, float64, shape (n,). Not counted."""
        return np.array(self._kernel.diagonal(self._X), dtype=np.float64)

    def row(self, i):
        """Return k(x_i, x_j) for all j, shape (n,)."""
        return self.batch([i])[0]

    def batch(self, indices):
        """Return the rows of `indices` as an array of shape (len(indices), n)."""
        self.n_evaluations += len(indices) * self.n_rows
        return self._values(np.asarray(indices, dtype=np.intp)).astype(self.dtype, copy=False)

    def block(self, I, J):
        """Return k(x_i, x_j) for i in I and j in J, shape (len(I), len(J))."""
        self.n_evaluations += len(I) * len(J)
        I, J = np.asarray(I, dtype=np.intp), np.asarray(J, dtype=np.intp)
        return self._values(I, J).astype(self.dtype, copy=False)

    def matvec(self, a):
        """Return K @ a, float64, shape (n,). Not counted, since it is for certificates, not for steps."""
        a = np.asarray(a, dtype=np.float64)
        support = np.flatnonzero(a)
        chunks = np.split(np.arange(self.n_rows), range(MATVEC_ROWS, self.n_rows, MATVEC_ROWS))
        return np.concatenate([self._values(chunk, support) @ a[support] for chunk in chunks])

    def _values(self, rows, columns=None):
        if isinstance(self._kernel, Precomputed):
            taken = self._X[rows] if columns is None else self._X[rows][:, columns]
            return dense(taken)
        if columns is not None and len(columns) == 0:
            return np.zeros((len(rows), 0))
        return evaluate(self._kernel, self._X[rows], self._X if columns is None else self._X[columns])
