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
    n_rows, capacity : int
        Rows and columns now, fewer while restricted.
    dtype : dtype
    single : bool
        Whether it is float32.
    can_restrict : bool
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
        self.single, self.can_restrict = self.dtype == np.float32, not isinstance(kernel, Precomputed)
        self.n_evaluations = 0
        self.release()
        if isinstance(kernel, Precomputed) and self._X.shape[0] != self._X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be square, got shape {self._X.shape}")

    def restrict(self, keep):
        """Restrict to a subset of the rows and columns, renumbered in the order of `keep`."""
        self._active = self._active[keep]
        self.n_rows = self.capacity = len(keep)

    def release(self):
        """Return to all rows."""
        self._active = np.arange(self._X.shape[0])
        self.n_rows = self.capacity = len(self._active)

    def diagonal(self):
        """Return k(x_i, x_i) for all i, float64, shape (n,). Not counted."""
        return np.array(self._kernel.diagonal(self._X), dtype=np.float64)[self._active]

    def row(self, i):
        """Return k(x_i, x_j) for all j, shape (n,)."""
        return self.batch([i])[0]

    def batch(self, indices):
        """Return the rows of `indices` as an array of shape (len(indices), n)."""
        self.n_evaluations += len(indices) * self.n_rows
        columns = None if self.n_rows == self._X.shape[0] else self._active
        return self._values(self._active[np.asarray(indices, dtype=np.intp)], columns).astype(self.dtype, copy=False)

    def block(self, I, J):
        """Return k(x_i, x_j) for i in I and j in J, shape (len(I), len(J))."""
        self.n_evaluations += len(I) * len(J)
        I, J = (self._active[np.asarray(indices, dtype=np.intp)] for indices in (I, J))
        return self._values(I, J).astype(self.dtype, copy=False)

    def add_products(self, columns, A, out):
        """out[c] += K[:, columns] A[:, c] for each column c of A; `out` has shape (n_products, n)."""
        out += np.asarray(A).T @ self.batch(columns).astype(np.float64)

    def matvec(self, a):
        """Return K @ a, float64, shape (n,). Not counted, since it is for certificates, not for steps."""
        a = np.asarray(a, dtype=np.float64)
        support = np.flatnonzero(a)
        return self.product(self._active, self._active[support], a[support], count=False)

    def product(self, rows, columns, a, *, count=True):
        """Return k(X[rows], X[columns]) @ a in float64; indices are those of all rows, also while restricted."""
        if count:
            self.n_evaluations += len(rows) * len(columns)
        chunks = np.split(np.asarray(rows, dtype=np.intp), range(MATVEC_ROWS, len(rows), MATVEC_ROWS))
        return np.concatenate([self._values(chunk, columns) @ a for chunk in chunks])

    def _values(self, rows, columns=None):
        if isinstance(self._kernel, Precomputed):
            taken = self._X[rows] if columns is None else self._X[rows][:, columns]
            return dense(taken)
        if columns is not None and len(columns) == 0:
            return np.zeros((len(rows), 0))
        return evaluate(self._kernel, self._X[rows], self._X if columns is None else self._X[columns])
