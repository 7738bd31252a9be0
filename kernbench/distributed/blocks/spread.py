"""One pass over all rows before a fit: are they finite and in the domain of the kernel; mean and variance."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy import sparse

from kernbench.kernels.bandwidth import check_variance, is_spread, representable
from kernbench.kernels.domain import check_range
from kernbench.validation.arrays import place_not_finite


@dataclass(frozen=True)
class Spread:
    """Weight, mean and sum of weighted squared deviations, of all entries or of each column."""

    weight: float
    mean: np.ndarray
    squares: np.ndarray

    def join(self, other):
        """Return the spread of two sets of rows together (Chan, Golub, LeVeque 1983)."""
        if self.weight == 0 or other.weight == 0:
            return self if other.weight == 0 else other
        weight, step = self.weight + other.weight, other.mean - self.mean
        return Spread(
            weight,
            self.mean + step * (other.weight / weight),
            self.squares + other.squares + step**2 * (self.weight * other.weight / weight),
        )


def spread_of(blocks, weights=None, *, columns=False):
    """Return the `Spread` of all entries (of each column if `columns`); raise ValueError for NaN and infinity."""
    parts = blocks.map(_SpreadOf(weights, columns))
    for start, row, column, value in (part for part in parts if isinstance(part, tuple)):
        title, number = blocks.where(start + row)
        what = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(
            f"X contains {what}: column {column} of {title} holds {what}, first in its row {number}. Remove such rows, "
            "or fill them in, for example with sklearn.impute.SimpleImputer"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return reduce(Spread.join, parts)


class _SpreadOf:
    def __init__(self, weights, columns):
        self.weights, self.columns = weights, columns

    def __call__(self, X, start):
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
            return (start, *place_not_finite(X))
        weights = None if self.weights is None else self.weights[start : start + X.shape[0]]
        with np.errstate(over="ignore"):  # the range of the kernel is checked afterwards
            return self._spread(X, weights)

    def _spread(self, X, weights):
        return spread_of_columns(X, weights) if self.columns else spread_of_entries(X, weights)


def spread_of_entries(X, weights=None):
    """Return the `Spread` of the entries of some rows, those of row i counting weights[i] times."""
    n, d = X.shape
    if weights is None and not sparse.issparse(X):
        mean = X.mean(dtype=np.float64)
        return Spread(float(n * d), mean, np.square(X - mean, dtype=np.float64).sum())
    weights = np.ones(n) if weights is None else weights
    total = float(weights.sum()) * d
    if total == 0:
        return Spread(0.0, np.float64(0), np.float64(0))
    if not sparse.issparse(X):
        mean = (weights @ X).sum() / total
        return Spread(total, mean, (weights @ np.square(X - mean)).sum())
    each = np.repeat(weights, np.diff(X.indptr))
    mean = (each @ X.data) / total
    return Spread(total, mean, each @ np.square(X.data - mean) + (total - each.sum()) * mean**2)


def spread_of_columns(X, weights=None):
    """Return the `Spread` of each column of some dense rows."""
    mean = X.mean(axis=0, dtype=np.float64)
    return Spread(float(len(X)), mean, np.square(X - mean, dtype=np.float64).sum(axis=0))


def gamma_of(spread, n_columns):
    """Return ``gamma="scale"``, 1 / (d · variance of the entries); 1 if they are all equal.

    Raises
    ------
    ValueError
        If the variance overflows or underflows.
    """
    mean, variance = float(spread.mean), float(spread.squares / spread.weight)
    # Whether equal entries are tiny, or different ones, would take another pass to see: all but zeros are refused.
    check_variance(variance, mean, lambda: mean != 0)
    return representable(1.0 / (n_columns * variance), "scale") if is_spread(variance, mean) else 1.0


def check_kernel_range(blocks, kernel, dtype, names=None):
    """Raise ValueError for rows that the kernel does not take in `dtype`; return the largest k(x, x)."""
    return float(np.max(blocks.map(_KernelRange(kernel, dtype, names))))


class _KernelRange:
    def __init__(self, kernel, dtype, names):
        self.kernel, self.dtype, self.names = kernel, dtype, names

    def __call__(self, X, start):
        check_range(X, self.kernel, self.dtype, feature_names=self.names)
        return self.kernel.diagonal(X).max()
