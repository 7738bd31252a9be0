"""The data of solvers: kernel rows of a training set, in the right precision, or a design."""

import numpy as np
from scipy import sparse

from kernbench.kernels.blocks import block
from kernbench.kernels.domain import check_range, is_precomputed
from kernbench.kernels.engine.operands.prepared import storage_of
from kernbench.kernels.functions import CentredLinear, Gaussian
from kernbench.kernels.rows import KernelRows, MatrixRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.problems.certificate.kernel_values import largest_sum
from kernbench.solvers.kinds import KINDS, load_twin

MEGABYTE = 2**20
KEPT_ROWS = 2500  # SMO takes so many for one working set, as their matrix is kept: 50 MB at most
WRONG = {"csr": 5e-5}  # error of the exponent of a Gaussian from which float32 is too coarse, by storage
WRONG_OTHERWISE = 0.01  # where differences are squared long before
WRONG_SUM = 5e-5  # error of a sum of absolute differences, the exponent of a Laplacian, from rounded rows
FEW_ROWS = 100  # from which that variance is computed
SEEN = 1e-4  # rounding of kernel values, as a share of the variance of rows in the kernel's space, from which it is

# float64 by way of float32 ends with a product in float64, n values for each support vector. It pays off if values are
# used more than once (with few rows a problem is one working set) and are not cheap. Measured, its time over that of
# float64 alone, by entries per row: dense rows 5: 1.1, 10: 0.5, 22 (ijcnn1): 0.75; sparse rows 12 (w8a): 0.75,
# 14 (a9a): 1.0 to 1.2, 150 (MNIST): below 1.
TWO_PRECISIONS_ROWS = 2500
TWO_PRECISIONS_ENTRIES = {"csr": 40, "dense": 10, "strips": 10}  # by storage


def design_maker(twin):
    """Return the function that makes the design of features or kernel rows."""
    return load_twin("kernbench.solvers.design:as_design", twin)


def make_rows(X, kernel, dtype, *, cache_size, twin, may_widen=False, two_precisions=False, keep=False,
              whole=False):  # fmt: skip
    """Return the rows of the kernel matrix of X.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    kernel : Kernel
    dtype : {"float32", "float64"}
    cache_size : float
        Megabytes; see `cache_bytes_of`.
    twin : {"compiled", "reference"}
    may_widen : bool, default=False
        Whether to use float64 if float32 is too coarse.
    two_precisions : bool, default=False
        Whether the solver takes `TwoPrecisionRows`, too.
    keep : bool, default=False
        Cache rows even where it is cheaper to compute them again, for several solvers that need the same rows.
    whole : bool, default=False
        Whether the solver takes the whole matrix, so that rows are `MatrixRows`.

    Returns
    -------
    KernelRows or TwoPrecisionRows
    """
    cache_bytes = cache_bytes_of(cache_size, X.shape[0], dtype)
    X = _without_empty_columns(X, kernel)
    if twin == "reference":
        return KINDS["kernel-svm"].make_data(X, kernel, twin=twin, cache_bytes=cache_bytes, dtype=np.dtype(dtype))
    if dtype == "float64" and two_precisions and _pays_in_two_precisions(X, kernel):
        rows = TwoPrecisionRows(X, kernel, cache_bytes=cache_bytes)
        if not _is_too_coarse(kernel, rows.of(np.float32), X):
            return rows
    make = MatrixRows if whole else KernelRows
    rows = make(X, kernel, cache_bytes=cache_bytes, dtype=np.dtype(dtype), keep=keep)
    if may_widen and dtype == "float32" and _is_too_coarse(kernel, rows, X):
        rows = make(X, kernel, cache_bytes=cache_bytes, dtype=np.float64, keep=keep)
    return rows


def cache_bytes_of(cache_size, n_rows, dtype):
    """Return how many bytes kernel rows may take: `cache_size` megabytes, or the matrix of at most `KEPT_ROWS` rows."""
    whole = n_rows**2 * np.dtype(dtype).itemsize if n_rows <= KEPT_ROWS else 0
    return max(int(cache_size * MEGABYTE), whole)


def _is_too_coarse(kernel, rows, X):
    """Whether the float32 values of `rows`, kernel rows of X, are too coarse.

    Squared distances are computed from inner products of centred rows, with an error of some roundings of the squared
    norms, large in the exponent of a narrow Gaussian kernel. Dense rows are subtracted from each other then (see
    `kernels.engine.engines`), so that the error is that of rounded rows, as for kernels that add up such differences in
    any case; sparse ones are not. Values of kernels that are not of the difference of rows, such as a polynomial, grow
    with the distance from the origin, while the differences between rows do not: float32 may round them away
    completely.
    """
    eps = np.finfo(np.float32).eps
    if isinstance(kernel, Gaussian):
        return bool(eps * 2.0 * rows.row_terms().max() > WRONG.get(storage_of(kernel, X), WRONG_OTHERWISE))
    if kernel.translation_invariant and kernel.coordinatewise:
        return bool(eps * 2.0 * largest_sum(kernel, X) > WRONG_SUM)
    if kernel.translation_invariant or kernel.calls_python or is_precomputed(kernel):
        return False
    few = X[:: max(1, -(-X.shape[0] // FEW_ROWS))]
    values = block(kernel, few, few, dtype=np.float64)
    largest, variance = np.abs(np.diagonal(values)).max(), np.diagonal(values).mean() - values.mean()
    # Equal rows have no variance, and no precision gives them one.
    return bool(largest * np.finfo(np.float64).eps < variance < largest * eps / SEEN)


def _pays_in_two_precisions(X, kernel):
    if X.shape[0] <= TWO_PRECISIONS_ROWS or kernel.calls_python or is_precomputed(kernel):
        return False
    storage = storage_of(kernel, X)
    stored = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    n_entries = stored if storage == "csr" else X.shape[0] * X.shape[1]
    if n_entries < TWO_PRECISIONS_ENTRIES[storage] * X.shape[0]:
        return False
    try:
        check_range(X, kernel, "float32")
    except ValueError:
        return False
    return True


def _without_empty_columns(X, kernel):
    """Return X without empty columns, if most are empty; kernel values stay the same.

    The sparse engine makes rows dense over all columns, of which there may be a million.
    """
    if not sparse.issparse(X) or not kernel.keeps_zeros or kernel.calls_python or X.nnz > X.shape[1] // 2:
        return X
    if isinstance(kernel, CentredLinear):  # which has a number for each column
        return X
    used, columns = np.unique(X.indices, return_inverse=True)
    return sparse.csr_matrix((X.data, columns, X.indptr), shape=(X.shape[0], max(1, len(used))))


def row_size(X, weights):
    """Return the root of the weighted mean of the squared norms of the rows of X; 1 if all are 0."""
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.square(X).sum(axis=1)
    return float(np.sqrt(np.average(np.asarray(squares, dtype=np.float64).ravel(), weights=weights))) or 1.0


def with_constant(X, scaling, dtype):
    """Return X in `dtype` with a last column of `scaling`, in one copy, or without that column for None.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    scaling : float, or None
    dtype : dtype

    Returns
    -------
    ndarray in C order or CSR matrix
    """
    if scaling is None:
        return X.astype(dtype, copy=False)
    n, d = X.shape
    if not sparse.issparse(X):
        rows = np.empty((n, d + 1), dtype=dtype)
        rows[:, :d], rows[:, d] = X, scaling
        return rows
    # The new entry is the last of its row, so the columns stay in order.
    index = np.int32 if X.nnz + n < 2**31 and d < 2**31 - 1 else np.int64
    starts = X.indptr.astype(index) + np.arange(n + 1, dtype=index)
    last = starts[1:] - 1
    is_old = np.ones(X.nnz + n, dtype=bool)
    is_old[last] = False
    values, columns = np.empty(X.nnz + n, dtype=dtype), np.empty(X.nnz + n, dtype=index)
    values[last], columns[last] = scaling, d
    values[is_old], columns[is_old] = X.data, X.indices
    rows = sparse.csr_matrix((values, columns, starts), shape=(n, d + 1))
    rows.has_sorted_indices = rows.has_canonical_format = True  # as X is: see `check_rows`
    return rows
