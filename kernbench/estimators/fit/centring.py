"""Rows moved to the origin, for linear functions with an intercept.

<w, x> + b = <w, x - c> + b' with b' = b + <w, c>: where b is not penalised, the problem does not depend on the shift c.
Rounding does. Far from the origin, products <x, z> of about |c|^2 hide differences of rows, and sums of them cancel. So
estimators solve the problem for the rows less a centre, and fold it into the intercept:

>>> centre = centre_of(X)                       # None where no column needs it           # doctest: +SKIP
>>> w, b = solve(centred(X, centre), y)                                                   # doctest: +SKIP
>>> intercept = b - shift_of(w, centre)         # of <w, x> + intercept on the given rows # doctest: +SKIP

The intercept is rounded to float64, which shifts all scores: at 1e12 by some 1e-4. `fit.folding` adds what that costs
to the gap, from a bound (`rounding_of`) or from the exact sum (`exact_intercept`).

Of sparse rows only columns without zeros are moved, so that no entry is added. That leaves little to be done: a column
with zeros has the origin among its values.
"""

from fractions import Fraction

import numpy as np
from scipy import sparse

from kernbench.kernels.engine.operands.centre import middle_of_columns, moved
from kernbench.problems.certificate.extended import DOUBLE

CHUNK_BYTES = 32_000_000  # of float64 rows held at a time


def centre_of(X):
    """Return the median of each column that has no zeros and 0 for the others, of some rows; None if all are 0.

    It is the same for dense and for sparse rows, and moves with them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    ndarray of shape (d,), float64, or None
    """
    if X.shape[0] == 0:
        return None
    if sparse.issparse(X):
        full = np.bincount(X.indices[X.data != 0], minlength=X.shape[1]) == X.shape[0]
    else:
        full = X.all(axis=0)
    centre = middle_of_columns(X, np.flatnonzero(full))
    return centre if centre.any() else None


def mean_of(X, weights=None):
    """Return the weighted mean of each column, float64, accurate far from the origin too; None if all are 0.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    weights : ndarray of shape (n,), optional
    """
    n, centre = X.shape[0], centre_of(X)
    shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    mean = np.zeros(X.shape[1]) if centre is None else centre.copy()
    mean += combined(shares, X, centre)
    return mean if mean.any() else None


def centred(X, centre, dtype=None):
    """Return X less `centre`, computed in float64; of a CSR matrix in those columns only that have no zeros.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    centre : ndarray of shape (d,), or None
        None returns X itself.
    dtype : dtype, optional
        That of X by default.
    """
    if centre is None:
        return X
    dtype = X.dtype if dtype is None else np.dtype(dtype)
    if sparse.issparse(X):
        return moved(X.astype(np.float64), _stored_centre(X, centre)).astype(dtype, copy=False)
    out, height = np.empty(X.shape, dtype=dtype), max(1, CHUNK_BYTES // (8 * max(1, X.shape[1])))
    for start in range(0, len(out), height):
        np.subtract(X[start : start + height], centre, out=out[start : start + height], casting="same_kind")
    return out


def moved_to_centre(X, dtype=None):
    """Return X less its `centre_of`, in `dtype` if it is given, and that centre."""
    centre = centre_of(X)
    return centred(X, centre, dtype), centre


def left_over(X, centre):
    """Return what `centred` leaves of the centre: 0 but in columns of a CSR matrix that have zeros."""
    if centre is None or not sparse.issparse(X):
        return None
    rest = centre - _stored_centre(X, centre)
    return rest if rest.any() else None


def combined(coef, X, centre):
    """Return sum_i coef_i (x_i - centre), float64, of shape (d,) or (r, d).

    Parameters
    ----------
    coef : ndarray of shape (n,) or (r, n)
    X : ndarray or CSR matrix of shape (n, d)
    centre : ndarray of shape (d,), or None
    """
    if centre is None:
        return coef @ X
    weights, rest = coef @ centred(X, centre, np.float64), left_over(X, centre)
    return weights if rest is None else weights - np.multiply.outer(coef.sum(axis=-1), rest)


def shift_of(weights, centre):
    """Return <w, centre> for each w, which `centred` rows lack: a float, or of shape (r,)."""
    return 0.0 if centre is None else weights @ centre


def rounding_of(weights, centre, *terms):
    """Return a bound on the rounding of an intercept sum(terms) - <w, centre> in float64; without a centre, of the sum.

    Parameters
    ----------
    weights : ndarray of shape (d,), or None
    centre : ndarray of shape (d,), or None
    *terms : float
    """
    of_shift = 0.0 if centre is None else np.abs(weights) @ np.abs(centre)
    return 2.0 * DOUBLE * float(sum(map(abs, terms)) + of_shift)


def exact_intercept(weights, centre, *terms):
    """Return sum(terms) - <w, centre>, a Fraction; arguments are those of `rounding_of`."""
    exact = sum(map(Fraction, terms), Fraction(0))
    if centre is None:
        return exact
    moves = np.flatnonzero(centre)
    # In integers and powers of 2: a fraction for each column takes twenty times as long, for many columns as a fit.
    parts = [np.frexp(np.asarray(numbers[moves], dtype=np.float64)) for numbers in (weights, centre)]
    exponents = parts[0][1] + parts[1][1] - 106
    least = int(exponents.min(initial=0))
    digits = [np.ldexp(mantissas, 53).astype(np.int64).tolist() for mantissas, _ in parts]
    total = sum(w * c << shift for w, c, shift in zip(*digits, (exponents - least).tolist(), strict=True))
    return exact - total * Fraction(2) ** least


def _stored_centre(X, centre):
    """Return the centre in the columns of a CSR matrix that have no zeros, else 0."""
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    return np.where(full, centre, 0.0)
