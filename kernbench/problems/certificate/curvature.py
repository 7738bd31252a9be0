"""Whether a kernel shows negative curvature: then no objective and no dual bound certifies anything.

With a kernel that is not positive semi-definite the objective has no minimum, and the dual problem is not a bound: SMO
and its relatives find a stationary point at most, as LIBSVM does. Most kernels are positive semi-definite by
construction. Of the others (a sigmoid, precomputed matrices, functions of the user) a block between some rows is
factorised, which costs little. It is no proof that the rest is semi-definite.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from kernbench.kernels.blocks import block
from kernbench.kernels.domain import is_precomputed

ROWS = 128  # of the block
ROUNDING = 1e-5  # error of a kernel value, as a share of the largest, that counts as rounding; as for symmetry
# The same for a given matrix in float64, which distances, square roots of differences, leave with half of its digits.
ROUNDING_OF_DOUBLE = 1e-7


def shows_negative_curvature(kernel, X, coef, *, balanced, objective=None, lower=None, at_zero=None):
    """Return whether the kernel of rows X is not positive semi-definite, as far as some of the rows show.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
        The kernel matrix itself for a precomputed kernel.
    coef : ndarray of shape (n,)
        Coefficients of the solution; the rows with the largest ones are examined.
    balanced : bool
        Whether coefficients sum to zero, since an intercept is free: then directions of sum zero count.
    objective, lower, at_zero : float, optional
        The objective of the solution, the solver's lower bound on the optimum, and the objective at f = 0, an upper
        one.
    """
    if kernel.is_semi_definite:
        return False
    if objective is not None and (objective < 0.0 or lower > at_zero * (1.0 + ROUNDING)):
        return True
    rows = _rows_to_look_at(np.abs(coef))
    if is_precomputed(kernel):
        values = np.asarray(X[np.ix_(rows, rows)], dtype=np.float64)
    else:
        values = np.asarray(block(kernel, X[rows], X[rows], dtype=np.float64))
    with np.errstate(over="ignore"):  # values beyond float32 become infinite, and so differ
        is_double = is_precomputed(kernel) and not np.array_equal(values, values.astype(np.float32))
    values = 0.5 * (values + values.T)
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return False
    if balanced:  # K between differences to the first row: e_i - e_0 span the directions of sum zero
        values = (values - values[0] - values[:, :1] + values[0, 0])[1:, 1:]
    values[np.diag_indices_from(values)] += (ROUNDING_OF_DOUBLE if is_double else ROUNDING) * len(rows) * largest
    try:
        cholesky(values, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return True
    return False


def _rows_to_look_at(size):
    """Return the indices of up to `ROWS` rows: those of largest `size`, then others at equal distances."""
    n = len(size)
    if n <= ROWS:
        return np.arange(n)
    used = np.flatnonzero(size)
    if len(used) >= ROWS:
        return np.sort(np.argpartition(-size, ROWS - 1)[:ROWS])
    others = np.flatnonzero(size == 0)
    spread = others[np.linspace(0, len(others) - 1, ROWS - len(used)).astype(np.intp)]
    return np.sort(np.concatenate([used, spread]))
