"""What solvers work on: the kernel rows of a training set, in the right precision, or a design."""

import numpy as np
from scipy import sparse

from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.engine._operand import Operand
from kernbench.kernels.engine._products import fill_block
from kernbench.kernels.engine.engines import make_engine
from kernbench.kernels.engine.prepared import storage_of
from kernbench.kernels.functions import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers.kinds import KINDS, load_twin

MEGABYTE = 2**20
WRONG = 0.01  # relative error of a kernel value from which on float32 is too coarse

# float64 by way of float32 ends with a product in float64, n values for each support vector. It pays where values
# are asked for more than once (with few rows a problem is one working set) and cost something. Measured, by entries
# per row: 12 to 22 (w8a, a9a, ijcnn1) no gain, 54 (covtype) and 150 (MNIST) a shorter time.
TWO_PRECISIONS_ROWS = 2500
TWO_PRECISIONS_ENTRIES = 40


def make_design(data, twin):
    """Return the design of features or kernel rows."""
    return load_twin("kernbench.solvers.design:as_design", twin)(data)


def make_rows(X, kernel, dtype, *, cache_size, twin, may_widen=False, two_precisions=False):
    """Return the rows of the kernel matrix of X.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    kernel : Kernel
    dtype : {"float32", "float64"}
    cache_size : float
        Megabytes.
    twin : {"compiled", "reference"}
    may_widen : bool, default=False
        Whether to take float64 where float32 is too coarse.
    two_precisions : bool, default=False
        Whether the solver takes `TwoPrecisionRows`, too.

    Returns
    -------
    KernelRows or TwoPrecisionRows
    """
    cache_bytes = int(cache_size * MEGABYTE)
    X = _without_empty_columns(X, kernel)
    if twin == "reference":
        return KINDS["kernel-svm"].make_data(
            X, kernel, twin=twin, cache_bytes=cache_bytes, dtype=np.dtype(dtype)
        )
    if dtype == "float64" and two_precisions and _pays_in_two_precisions(X, kernel):
        rows = TwoPrecisionRows(X, kernel, cache_bytes=cache_bytes)
        if not _is_too_coarse(kernel, rows.of(np.float32).row_terms()):
            return rows
    rows = KernelRows(X, kernel, cache_bytes=cache_bytes, dtype=np.dtype(dtype))
    if may_widen and dtype == "float32" and _is_too_coarse(kernel, rows.row_terms()):
        rows = KernelRows(X, kernel, cache_bytes=cache_bytes, dtype=np.float64)
    return rows


def small_matrix(X, kernel, dtype, *, may_widen, padding):
    """Return the kernel matrix of all rows of X, with `padding` readable entries behind its end.

    Parameters
    ----------
    X, kernel, dtype, may_widen
        As for `make_rows`; the kernel does not call Python.
    padding : int

    Returns
    -------
    ndarray of shape (n, n)
    """
    n = X.shape[0]
    if is_precomputed(kernel):
        matrix = _padded((n, n), dtype, padding)
        matrix[:] = X
        return matrix
    X = _without_empty_columns(X, kernel)
    rows = Operand(X, kernel, dtype)
    if may_widen and dtype == "float32" and _is_too_coarse(kernel, rows.prepared.terms):
        dtype = "float64"
        rows = Operand(X, kernel, dtype)
    return fill_block(make_engine(kernel, rows, rows), np.arange(n), _padded((n, n), dtype, padding))


def _padded(shape, dtype, padding):
    """Return an uninitialised array with `padding` zeros behind its end."""
    flat = np.empty(shape[0] * shape[1] + padding, dtype=dtype)
    flat[-padding:] = 0
    return flat[:-padding].reshape(shape)


def _is_too_coarse(kernel, row_terms):
    """Whether float32 values of a kernel between rows with these `row_terms` may be wrong by a hundredth.

    Squared distances are taken from inner products of centred rows, with an error of some roundings of the
    squared norms. In the exponent of a very narrow Gaussian kernel that can be more than a hundredth: then
    even k(x, x) = 1 is wrong.
    """
    if not isinstance(kernel, Gaussian):
        return False
    exponents = 2.0 * row_terms.max()
    return bool(np.finfo(np.float32).eps * exponents > WRONG)


def _pays_in_two_precisions(X, kernel):
    if X.shape[0] <= TWO_PRECISIONS_ROWS or kernel.calls_python or is_precomputed(kernel):
        return False
    stored = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    n_entries = stored if storage_of(kernel, X) == "csr" else X.shape[0] * X.shape[1]
    if n_entries < TWO_PRECISIONS_ENTRIES * X.shape[0]:
        return False
    try:
        check_range(X, kernel, "float32")
    except ValueError:
        return False
    return True


def _without_empty_columns(X, kernel):
    """Return X without the columns that no row uses, if most are such; kernel values stay the same.

    The sparse engine spreads rows out over all columns, of which there may be a million.
    """
    if not sparse.issparse(X) or not kernel.keeps_zeros or kernel.calls_python or X.nnz > X.shape[1] // 2:
        return X
    used, columns = np.unique(X.indices, return_inverse=True)
    return sparse.csr_matrix((X.data, columns, X.indptr), shape=(X.shape[0], max(1, len(used))))
