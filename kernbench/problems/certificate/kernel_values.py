"""How far rounding may move the kernel values of the engine."""

import math

import numpy as np
from scipy import sparse

from kernbench.kernels.base import row_sums, squared_norms
from kernbench.kernels.blocks import block
from kernbench.kernels.constants import EPS, TINY
from kernbench.kernels.domain import asymmetry, compared_rows
from kernbench.kernels.engine.engines import largest_square
from kernbench.kernels.engine.operands.centre import as_float64, centre_of_dense, centre_of_sparse, moved
from kernbench.kernels.engine.operands.prepared import chunks, prepare, storage_of
from kernbench.kernels.functions import DotProduct, ExponentialChiSquared, Matern, Polynomial, Sigmoid
from kernbench.problems.certificate.closest_rows import least_distance

TABLE_OF_MATERN = 1e-12  # error of its interpolation in float64; that in float32 is below 8 eps


def error_of_values(kernel, dtype, X, row_terms=None):
    """Return a bound on the error of the engine's kernel values, relative to the largest.

    Kernels of the difference of rows lose digits with the distance of rows from their centre; see `_of_distances` and
    `_of_differences`. The terms of sums and products add their errors up.

    Parameters
    ----------
    kernel : Kernel
    dtype : {"float32", "float64"}
        Precision of the values.
    X : ndarray or CSR matrix of shape (n, d)
    row_terms : ndarray of shape (n,), optional
        The engine's, if they are known.
    """
    eps = EPS[np.dtype(dtype)]
    if kernel.components:
        return 4.0 * eps + sum(error_of_values(component, dtype, X) for component in kernel.components)
    # Zeros are counted, which takes longer than all else with few rows, only where the storage matters.
    storage = storage_of(kernel, X) if sparse.issparse(X) or kernel.coordinatewise else "dense"
    n_entries = most_stored(X) if storage == "csr" else X.shape[1]
    sums = n_entries + 8.0
    if isinstance(kernel, Polynomial):
        return eps * sums * int(kernel.degree)
    if isinstance(kernel, DotProduct):
        return eps * sums * max(4.0, _degree(kernel, X))
    if isinstance(kernel, Sigmoid):
        return error_of_sigmoid(eps, kernel, X, n_entries)
    if isinstance(kernel, ExponentialChiSquared):
        return eps * max(4.0 * sums, _of_quotients(kernel, n_entries, X, storage))
    if not kernel.translation_invariant or X.shape[0] == 0:
        return eps * 4.0 * sums
    if kernel.coordinatewise:
        return _of_differences(eps, n_entries, largest_sum(kernel, X), storage)
    terms = prepare(kernel, X, np.float64).terms if row_terms is None else row_terms
    square = float(terms.max()) / kernel.norm_factor
    if isinstance(kernel, Matern):
        return _of_matern(eps, n_entries, square) + _of_a_steep_start(kernel, dtype, X, square)
    if square <= largest_square("dense", dtype):
        return _of_distances(eps, n_entries, square)
    limit = largest_square(storage_of(kernel, X), dtype)
    if square <= limit:
        return _of_distances(eps, n_entries, square)
    # Blocks of rows without those afar still take inner products. Of differences in the exponent, squared, see below.
    others = terms[terms <= limit * kernel.norm_factor]
    by_products = _of_distances(eps, n_entries, float(others.max(initial=0.0)) / kernel.norm_factor)
    return max(by_products, eps * (8.0 + X.shape[1] + 3.0 * math.sqrt(square)))


def with_subnormals(error, dtype, largest):
    """Return a bound on the error of kernel values up to `largest`, relative to it, also below the range of `dtype`.

    Numbers below the least normal one are rounded by a share eps of that one, not of their own size. Bounds for values
    of the usual size stay the same to the bit.

    Parameters
    ----------
    error : float
        A bound that is a multiple of eps, such as that of `error_of_values`.
    dtype : {"float32", "float64"}
        Precision of the values.
    largest : float
        The largest magnitude of a value.
    """
    return error * (1.0 + TINY[np.dtype(dtype)] / largest) if largest > 0.0 else error


def error_of_sigmoid(eps, kernel, X, n_entries):
    """Return a bound on the error of values tanh(t), t = scale <x, z> + c, relative to the largest k(x, x).

    Rounding of the rows and of the sum of d products moves scale <x, z> by at most eps (d + 8) / 2 times scale |x| |z|,
    that of c and of t adds eps (|c| + scale |x| |z|), and no slope of tanh exceeds 1. The terms of t may cancel, and
    then the error is far above eps t. They cannot where all have one sign: then the error of tanh(t) relative to itself
    is at most that of t, since t tanh'(t) <= tanh(t).

    Parameters
    ----------
    eps : float
        Of the precision of the values.
    kernel : Sigmoid
    X : ndarray or CSR matrix of shape (n, d)
    n_entries : int
        The largest number of terms of <x, z>.
    """
    sums, square = n_entries + 8.0, kernel.scale * float(squared_norms(X).max(initial=0.0))
    change = sums * square + 2.0 * abs(kernel.c)
    if change == 0.0 or X.shape[0] == 0 or (kernel.c >= 0.0 and _has_one_sign(X)):  # values are 0, or no terms cancel
        return 4.0 * eps * sums
    diagonal = kernel.diagonal(X)
    largest = max(0.0, float(diagonal.max())) or -float(diagonal.min())  # magnitudes, if none is positive
    return eps * (4.0 * sums + change / largest) if largest > 0.0 else math.inf


def _has_one_sign(X):
    """Whether no entry of rows is negative, or none is positive."""
    values = X.data if sparse.issparse(X) else X
    return values.size == 0 or float(values.min()) >= 0.0 or float(values.max()) <= 0.0


def asymmetry_of_values(kernel, X):
    """Return by how much k(x, z) and k(z, x) differ, relative to the largest value, as far as some rows of X show.

    Solvers take row i of the kernel matrix for column i, predictions take the columns. Matrices and functions of the
    user may differ from their transpose by rounding; for other kernels it is 0.
    """
    if kernel.calls_python:
        rows = X[compared_rows(X.shape[0])]
        X = block(kernel, rows, rows, dtype=np.float64)
    elif kernel.routine != "precomputed":
        return 0.0
    difference, largest = asymmetry(X)
    return difference / largest if difference > 0.0 else 0.0


def _degree(kernel, X):
    """Return t f'(t) / f(t) of the power series f at the largest <x, x>: a relative error of t grows by this factor."""
    largest = float(squared_norms(X).max(initial=0.0))
    powers = np.flatnonzero(kernel.coefficients)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.array(kernel.coefficients)[powers] * np.power(largest, powers)
        degree = float(terms @ powers / terms.sum())
    return degree if np.isfinite(degree) else float(powers[-1])


def _of_quotients(kernel, n_entries, X, storage):
    """Values exp(-t), t = gamma sum_j (x_j - z_j)^2 / (x_j + z_j), of rows with sums of at most s, in units of eps.

    A term has a slope of at most 3 |x_j - z_j| / (x_j + z_j), so that rounding of the entries moves t by at most
    1.5 eps sqrt(2 gamma s t), and sqrt(t) exp(-t) < 0.43. The sum over the stored entries of a sparse row starts with
    the sum of the other row, from which it subtracts in runs of 32: that costs some eps gamma s.
    """
    largest = kernel.gamma * float(row_sums(X).max(initial=0.0))
    return 8.0 + n_entries + 2.0 * math.sqrt(largest) + (8.0 * largest if storage == "csr" else 0.0)


def _of_distances(eps, n_entries, square):
    """Gaussian values from squared norms of at most `square`, in units of the width, and inner products.

    They have an error of some eps of the norms, which in the exponent is a relative one. Sums run in several lanes over
    products of both signs: sqrt(d) stands for d.
    """
    return eps * (8.0 + square * (2.0 + math.sqrt(n_entries)))


def _of_matern(eps, n_entries, square):
    """Matérn values of rows with squared norms of at most `square`, in units of the width.

    Squared distances below a twentieth of the norms are computed from differences (`kernels.engine._near`), others have
    a relative error of 20 times that of inner products, which counts at most 0.37 times. Rows are rounded as for
    `_of_differences`, and from nu = 1/2 on no value changes by more than the distance.
    """
    return eps * (30.0 + 15.0 * (2.0 + math.sqrt(n_entries)) + 6.0 * math.sqrt(square)) + TABLE_OF_MATERN


def _of_a_steep_start(kernel, dtype, X, square):
    """What rounding of rows may change in values of a Matérn kernel with nu < 1/2, whose slope at 0 is infinite.

    At the distance t the slope is at most that of c (t / 2)^(2 nu), c = Gamma(1 - nu) / Gamma(1 + nu), since
    t^(1 - nu) K_(1 - nu)(t) falls from its limit at 0: the change is largest for the closest rows.
    """
    if kernel.nu >= 0.5 or X.shape[0] < 2:
        return 0.0
    rounding = 6.0 * EPS[np.dtype(dtype)] * math.sqrt(square) + math.sqrt(np.finfo(dtype).tiny)
    distance = max(least_distance(X) / kernel.unit, rounding)
    if np.isinf(distance):  # all rows are equal, and are rounded alike
        return 0.0
    power = 2.0 * kernel.nu
    factor = math.gamma(1.0 - kernel.nu) / math.gamma(1.0 + kernel.nu)
    # All of c (t / 2)^(2 nu) where rows may round to one another.
    share = 1.0 if distance == rounding else -math.expm1(power * math.log1p(-rounding / distance))
    return factor * (0.5 * distance) ** power * share


def _of_differences(eps, n_entries, length, storage):
    """Values exp(-t), or prod_j 1 / (1 + t_j^2), of sums of d absolute differences of rows of at most this 1-norm.

    Subtraction of the centre, division by the width and storage round a row by at most eps of its entries, thus t by
    2 eps of the norms, and |exp(-t) - exp(-t')| <= |t - t'|. A block may have another centre, the median of its own
    rows, at most 2 norms apart: 6 in place of 2. The sum of d terms has a relative error of (d + 3) eps / 2, where
    t exp(-t) < 0.4; a product of d factors one of 2 d eps. (For exp(-r^2 / 2) of Euclidean norms, whose slope is at
    most 0.61, rows are rounded by 2 eps, a median is at most sqrt(2) norms apart, and 0.61 * 2 * (1 + sqrt(2)) < 3.)

    The sum over stored entries of a sparse row starts with the 1-norm of the other one, from which it subtracts.
    """
    of_sums = 2.0 * length * (n_entries + 8.0) if storage == "csr" else 0.0
    return eps * (8.0 + 2.0 * n_entries + 6.0 * length + of_sums)


def largest_sum(kernel, X):
    """Return the largest 1-norm of the lifted rows of X, dense or CSR, from their centre, in units of the width."""
    if storage_of(kernel, X) == "csr":
        lifted = sparse.csr_matrix(X, dtype=np.float64)  # of an array, too, if most of it is zero
        lifted.data = kernel.lift(lifted.data)
        sums = abs(moved(lifted, centre_of_sparse(lifted))).sum(axis=1)
        return float(sums.max()) / kernel.unit
    centre, largest = centre_of_dense(kernel, X), 0.0
    for rows in chunks(X.shape[0], 8 * X.shape[1]):
        largest = max(largest, float(np.abs(kernel.lift(as_float64(X[rows])) - centre).sum(axis=1).max()))
    return largest / kernel.unit


def most_stored(X):
    """Return the largest number of stored entries of a row."""
    return int(np.diff(X.indptr).max(initial=0)) if sparse.issparse(X) else X.shape[1]
