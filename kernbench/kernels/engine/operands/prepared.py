"""Rows for the compiled engine: checked, lifted, centred and scaled in float64, then rounded and stored.

How the rows of one kernel are stored depends on how its values are computed:

``"dense"``
    row after row, for kernels of the inner product (a matrix product takes them as they are);
``"strips"``
    `STRIP` rows side by side, feature by feature, for kernels that add up a term for each pair of entries;
``"csr"``
    the stored entries, for kernels to which zeros add nothing, if that is faster;
``"matrix"``
    a precomputed kernel matrix.

Rows that arrive sparse and cannot stay so (Cauchy, skewed and semigroup kernels have terms for zeros, too) are made
dense a chunk at a time.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernbench.kernels.constants import check_constants
from kernbench.kernels.engine.operands._prepare import scale_rows
from kernbench.kernels.engine.operands.centre import as_float64, centre_of_dense, centre_of_sparse, moved
from kernbench.validation.arrays import check_sparse_width

STRIP = 32  # rows of a strip; KB_STRIP of _coordinates.h
CHUNK_BYTES = 32_000_000  # of float64 rows that are converted at one time
COUNTED_ENTRIES = 500_000  # entries of dense rows in which zeros are counted at a time

# Shares of stored entries below which sparse rows are faster than dense ones (measured on AVX2): than sgemm, and than
# coordinatewise sums.
SPARSE_BELOW = 0.25
SPARSE_BELOW_COORDINATEWISE = 0.5


@dataclass(frozen=True)
class PreparedRows:
    """Rows of one precision and one storage.

    Attributes
    ----------
    storage : {"dense", "strips", "csr", "matrix"}
    shape : tuple of int
        Rows and features.
    data : ndarray
        Of shape (n, d); (n / 32 rounded up, d, streams, 32); (entries, streams) for CSR.
    terms : ndarray of shape (n,)
        The kernel's `row_terms`, zeros where it has none; of the precision of `data`.
    centre : ndarray of shape (d,), or None
        The centre that was subtracted.
    columns, starts : ndarray or None
        int32 and int64; of CSR rows.
    """

    storage: str
    shape: tuple
    data: np.ndarray
    terms: np.ndarray
    centre: np.ndarray | None = None
    columns: np.ndarray | None = None
    starts: np.ndarray | None = None

    @property
    def n_streams(self):
        """Numbers held for each entry."""
        axis = {"strips": 2, "csr": 1}.get(self.storage)
        return 1 if axis is None else self.data.shape[axis]

    def take(self, indices):
        """Return a subset of the rows; centre and terms stay as they are."""
        shape = (len(indices), self.shape[1])
        terms = self.terms[indices]
        if self.storage == "csr":
            # Not by SciPy, which checks all rows each time.
            first = self.starts[:-1][indices]
            lengths = self.starts[1:][indices] - first
            starts = np.concatenate([[0], np.cumsum(lengths)])
            places = np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths)
            return _csr(shape, self.data[places], terms, self.centre, self.columns[places], starts)
        if self.storage == "strips":
            data = _empty_strips(*shape, self.data.shape[2], self.data.dtype)
            for rows in chunks(len(indices), self.data[0].nbytes // STRIP if len(self.data) else 1):
                part = np.asarray(indices[rows])
                _fill_strips(data, rows.start, self.data[part // STRIP, :, :, part % STRIP])
            return PreparedRows("strips", shape, data, terms, self.centre)
        return PreparedRows(self.storage, shape, self.data[indices], terms, self.centre)


def chunks(n_rows, bytes_per_row):
    """Yield slices that cover `n_rows` rows, each of about `CHUNK_BYTES` and all but the last of whole strips."""
    height = max(256, int(CHUNK_BYTES // max(1, bytes_per_row)) // STRIP * STRIP)
    for start in range(0, n_rows, height):
        yield slice(start, min(n_rows, start + height))


def storage_of(kernel, X):
    """Return how the rows of X are best stored for `kernel`."""
    if kernel.keeps_zeros and _is_sparse_enough(
        X, SPARSE_BELOW_COORDINATEWISE if kernel.coordinatewise else SPARSE_BELOW
    ):
        return "csr"
    return "strips" if kernel.coordinatewise else "dense"


def prepare(kernel, X, dtype, like=None):
    """Return the rows of X for `kernel`.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or canonical CSR matrix of shape (n, d)
    dtype : {float32, float64}
    like : PreparedRows, optional
        Take storage and centre from there, so that the two can be compared.

    Raises
    ------
    ValueError
        If an entry is outside the kernel's domain, or it or a parameter is too large for the precision.
    """
    if kernel.routine == "precomputed":
        dense = X.toarray() if sparse.issparse(X) else X
        return PreparedRows("matrix", X.shape, np.ascontiguousarray(dense, dtype=dtype), np.zeros(len(dense), dtype))
    kernel.check_domain(X)
    check_constants(kernel, dtype)
    storage = storage_of(kernel, X) if like is None else like.storage
    centre = None if like is None else like.centre
    return (_prepare_csr if storage == "csr" else _prepare_dense)(kernel, X, np.dtype(dtype), storage, centre)


def _prepare_dense(kernel, X, dtype, storage, centre):
    n, d = X.shape
    if centre is None and kernel.translation_invariant:
        centre = centre_of_dense(kernel, X)
    if storage == "dense" and _stays_as_it_is(kernel, X):
        return PreparedRows(storage, X.shape, np.ascontiguousarray(X, dtype=dtype), np.zeros(n, dtype))
    data = _empty_strips(n, d, kernel.n_streams, dtype) if storage == "strips" else np.empty((n, d), dtype)
    terms = np.zeros(n, dtype)
    if storage == "dense" and _is_scaled_only(kernel):
        plain = isinstance(X, np.ndarray) and X.flags.c_contiguous and X.flags.aligned
        whole = plain and X.dtype in (np.float32, np.float64)
        for rows in (slice(0, n),) if whole else chunks(n, 8 * d):
            part = X[rows] if whole else np.ascontiguousarray(as_float64(X[rows]))
            scale_rows(part, centre, kernel.unit, kernel.norm_factor, data[rows], terms[rows])
        if not np.all(np.isfinite(terms)):
            _require_in_range(kernel, data, terms)
        return PreparedRows(storage, X.shape, data, terms, centre)
    for rows in chunks(n, 8 * d * kernel.n_streams):
        part = kernel.lift(as_float64(X[rows]))
        if centre is not None:
            part -= centre
        part, lengths = _scaled(kernel, part)
        with np.errstate(over="ignore"):
            if storage == "strips":
                streams = np.stack([stream.astype(dtype) for stream in kernel.streams(part)], axis=2)
                _require_in_range(kernel, streams)
                _fill_strips(data, rows.start, streams)
            else:
                data[rows] = part
                terms[rows] = _terms(kernel, data[rows], lengths)
                _require_in_range(kernel, data[rows], terms[rows])
    return PreparedRows(storage, X.shape, data, terms, centre)


def _prepare_csr(kernel, X, dtype, storage, centre):
    X = sparse.csr_matrix(X.astype(np.float32) if X.dtype == np.float16 else X)  # SciPy has no sparse float16
    if kernel.translation_invariant:
        # As for dense rows, but only columns without zeros can be centred without becoming dense.
        centre = centre_of_sparse(X) if centre is None else centre
        X = moved(X.astype(np.float64), centre)
    # Lift the entries but keep a matrix, so that the kernel's functions of rows work for either storage.
    lifted = sparse.csr_matrix((kernel.lift(X.data.astype(np.float64)), X.indices, X.indptr), shape=X.shape)
    lifted, lengths = _scaled(kernel, lifted)
    with np.errstate(over="ignore"):
        values = np.stack([stream.astype(dtype) for stream in kernel.streams(lifted.data)], axis=1)
        rounded = sparse.csr_matrix((values[:, 0], X.indices, X.indptr), shape=X.shape)
        terms = _terms(kernel, rounded, lengths).astype(dtype)
    _require_in_range(kernel, values, terms)
    return _csr(X.shape, values, terms, centre, X.indices, X.indptr)


def _csr(shape, values, terms, centre, columns, starts):
    check_sparse_width(shape[1])
    columns, starts = (np.ascontiguousarray(columns, dtype=np.int32), np.ascontiguousarray(starts, dtype=np.int64))
    return PreparedRows("csr", shape, np.ascontiguousarray(values), terms, centre, columns, starts)


def _stays_as_it_is(kernel, X):
    """Whether the user's array can be used as it is, without checking its entries."""
    if sparse.issparse(X) or kernel.lifts or kernel.routine == "centred":  # that one has terms
        return False
    return not kernel.translation_invariant and not kernel.unit_rows and kernel.unit == 1.0


def _is_scaled_only(kernel):
    """Whether the compiled pass suffices, which centres and scales rows and computes their squared norms."""
    return kernel.translation_invariant and kernel.norm_factor is not None and not kernel.lifts


def _scaled(kernel, rows):
    """Divide rows, in place, by the kernel's unit or by their own lengths, which are returned too."""
    values = rows.data if sparse.issparse(rows) else rows
    if not kernel.unit_rows:
        if kernel.unit != 1.0:
            with np.errstate(over="ignore"):
                values /= kernel.unit
        return rows, None
    # In two steps, since squares of large numbers would overflow.
    largest = abs(rows).max(axis=1).toarray().ravel() if sparse.issparse(rows) else abs(rows).max(axis=1, initial=0.0)
    _divide_rows(rows, largest)
    squares = rows.multiply(rows).sum(axis=1) if sparse.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    lengths = np.sqrt(np.asarray(squares).ravel())
    _divide_rows(rows, lengths)
    return rows, lengths * largest


def _divide_rows(rows, divisors):
    divisors = np.where(divisors > 0, divisors, 1.0)
    if sparse.issparse(rows):
        rows.data /= np.repeat(divisors, np.diff(rows.indptr))
    else:
        rows /= divisors[:, None]


def _terms(kernel, rows, lengths):
    terms = kernel.row_terms(rows, lengths)
    return np.zeros(rows.shape[0]) if terms is None else terms


def _require_in_range(kernel, *arrays):
    # NaN in the data stays NaN, as in NumPy; finite data must not become NaN.
    if kernel.refuses_infinity and any(np.isinf(values).any() for values in arrays):
        dtype = arrays[0].dtype
        remedy = ", or use dtype=float64" if dtype == np.float32 else ""
        raise ValueError(f"X holds values too large for this kernel in {dtype}: scale the features{remedy}")


def _empty_strips(n, d, n_streams, dtype):
    # Zeros, because the padding columns of the last strip take part in computations, though they are never read.
    return np.zeros((-(-n // STRIP), d, n_streams, STRIP), dtype)


def _fill_strips(data, start, rows):
    """Put `rows`, of shape (m, d, streams), into strips from row `start`, which begins a strip."""
    m, first = len(rows), start // STRIP
    whole = m // STRIP
    data[first : first + whole] = rows[: whole * STRIP].reshape(whole, STRIP, *rows.shape[1:]).transpose(0, 2, 3, 1)
    if m % STRIP:
        data[first + whole, :, :, : m % STRIP] = rows[whole * STRIP :].transpose(1, 2, 0)


def _is_sparse_enough(X, share):
    """Whether the share of entries that are not zero is below `share`, and rows are long enough for it to matter."""
    n_entries = X.shape[0] * X.shape[1]
    if X.shape[1] <= 8:
        return False
    if n_entries == 0 or X.shape[1] >= 2**31 - 1:
        return sparse.issparse(X)
    if sparse.issparse(X):
        return X.nnz < share * n_entries
    stored, height = 0, max(1, COUNTED_ENTRIES // X.shape[1])
    for start in range(0, X.shape[0], height):  # the count ends early for dense rows
        stored += np.count_nonzero(X[start : start + height])
        if stored >= share * n_entries:
            return False
    return True
