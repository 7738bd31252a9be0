"""Blocks of kernel matrices and products with them: the Python interface of the compiled engine."""

import numpy as np
from scipy import sparse

from kernbench.kernels.engine._products import fill_block, multiply
from kernbench.kernels.engine.engines import make_engine
from kernbench.kernels.engine.operands._operand import Operand
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.arrays import check_finite, check_indices, without_duplicates, without_room

CHUNK_BYTES = 32_000_000  # rows of X that are converted, or passed to a Python kernel, at a time


def as_rows(X, name="X"):
    """Return X as a 2-D array or a canonical CSR matrix with valid indices; the engine copies it if necessary."""
    if sparse.issparse(X):
        check_indices(X, name)
        return without_duplicates(without_room(X.tocsr()))
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {X.shape}")
    return X


def checked_rows(kernel, X, name="X"):
    """Return X as rows of finite real numbers, or of what a Python function takes; raise ValueError for others."""
    X = as_rows(X, name)
    if X.dtype.kind not in "biuf" and not kernel.calls_python:
        if X.dtype.kind == "c":
            raise ValueError(f"{name} must hold real numbers, got complex ones")
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers: {error}") from None
    check_finite(X, name)
    return X


def checked_block(kernel, X, Z=None, *, dtype=None, out=None):
    """Return `block` of rows that are not checked yet."""
    X, Z = checked_rows(kernel, X), None if Z is None else checked_rows(kernel, Z, "Z")
    return block(kernel, X, Z, dtype=dtype, out=out)


def _default_dtype(X, dtype):
    if dtype is None:
        return np.float32 if X.dtype == np.float32 else np.float64
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}")
    return np.dtype(dtype).type


def _checked_out(out, shape, dtype):
    """Return a new array, or `out` if the compiled engine can write to it."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not (isinstance(out, np.ndarray) and out.flags.carray):
        raise ValueError("out must be a writeable C-contiguous array")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must be a {np.dtype(dtype)} array of shape {shape}, got {out.dtype} {out.shape}")
    return out


def _chunks(n_rows, bytes_per_row):
    height = max(256, int(CHUNK_BYTES // max(1, bytes_per_row)))
    for start in range(0, n_rows, height):
        yield slice(start, min(n_rows, start + height))


def block(kernel, X, Z=None, *, dtype=None, out=None):
    """Return the matrix k(x_i, z_j).

    Parameters
    ----------
    kernel : Kernel
    X, Z : array-like or CSR matrix of shapes (n, d) and (m, d)
        Z is X by default. For a precomputed kernel X is the matrix itself and Z, if given, its training side (m rows).
    dtype : {float32, float64}, optional
        Precision of computation and result; by default that of `out`, or float32 if X is float32, else float64.
    out : ndarray of shape (n, m), optional
        Where to write the result, C-contiguous; reusing memory saves the page faults of a new array, up to half of the
        time of a large block. It may overlap X or Z, which takes another matrix of its size.

    Returns
    -------
    ndarray of shape (n, m)
        `out`, if it was given.

    Raises
    ------
    ValueError
        If the features do not agree, `out` does not fit, or an entry is outside the kernel's domain or the range of
        `dtype`.

    Notes
    -----
    Besides the result, needs memory for Z in `dtype` (dense for kernels that do not keep zeros, even if Z is CSR) and
    for some 30 MB of X at a time.
    """
    X, Z = as_rows(X), None if Z is None else as_rows(Z, "Z")
    dtype = _default_dtype(X, getattr(out, "dtype", None) if dtype is None else dtype)
    if kernel.routine == "precomputed":
        _require_training_side(X, Z)
        out = _checked_out(out, X.shape, dtype)
        out[:] = X.toarray() if sparse.issparse(X) else X
        return out
    columns = Operand(X if Z is None else Z, kernel, dtype)
    out = _checked_out(out, (X.shape[0], columns.n_rows), dtype)
    if any(np.may_share_memory(out, rows) for rows in (X, Z) if isinstance(rows, np.ndarray)):
        out[:] = block(kernel, X, Z, dtype=dtype)  # tiles are written before all rows are read
        return out
    with single_threaded_blas():
        if Z is None or X is Z:
            return fill_block(make_engine(kernel, columns, columns), np.arange(X.shape[0]), out)
        for engine, rows in _engines(kernel, X, columns, dtype):
            fill_block(engine, np.arange(rows.stop - rows.start), out[rows])
    return out


def _engines(kernel, X, columns, dtype):
    """Yield engines for chunks of the rows of X, and the slices of these rows, in bounded memory."""
    kernel.check_domain(X)  # as a whole, so that the message counts rows from the first
    # Chunks are bounded by the result of a Python function, else by the prepared rows.
    per_row = 8 * (columns.n_rows if kernel.calls_python else X.shape[1])
    for rows in _chunks(X.shape[0], per_row):
        yield make_engine(kernel, Operand(X[rows], kernel, dtype, columns), columns), rows


def _require_training_side(X, Z):
    if Z is not None and X.shape[1] != Z.shape[0]:
        raise ValueError(
            f"the precomputed kernel has {X.shape[1]} columns for {Z.shape[0]} training rows: give k(X, training rows)"
        )


def matmul(kernel, X, Z, A, *, dtype=None):
    """Return K(X, Z) @ A without ever storing K.

    Parameters
    ----------
    kernel : Kernel
    X, Z : array-like or CSR matrix of shapes (n, d) and (m, d)
        For a precomputed kernel X is the (n, m) matrix itself.
    A : array-like of shape (m,) or (m, r)
    dtype : {float32, float64}, optional
        Precision of the kernel values; by default float32 if X is float32, else float64.

    Returns
    -------
    ndarray of shape (n,) or (n, r), float64

    Notes
    -----
    Needs memory for Z in `dtype` (dense for kernels that do not keep zeros, even if Z is CSR), for the result, and
    some 50 MB of tiles, for any n and m. Tiles of up to about a thousand columns, of more for a few rows of X, are
    added up in float64; within a tile, the sum of one right-hand side is float64 as well, those of several are of
    `dtype`.
    """
    X, Z = as_rows(X), as_rows(Z, "Z")
    dtype = _default_dtype(X, dtype)
    A = np.asarray(A, dtype=np.float64)
    n_columns = X.shape[1] if kernel.routine == "precomputed" else Z.shape[0]
    if A.ndim not in (1, 2) or len(A) != n_columns:
        raise ValueError(f"A must have one entry or one row for each of the {n_columns} rows of Z, got {A.shape}")
    right = np.ascontiguousarray(A if A.ndim == 2 else A[:, None])
    out = np.empty((X.shape[0], right.shape[1]))
    if kernel.routine == "precomputed":
        for rows in _chunks(X.shape[0], 8 * X.shape[1]):
            out[rows] = X[rows] @ right
    else:
        columns = Operand(Z, kernel, dtype)
        with single_threaded_blas():
            for engine, rows in _engines(kernel, X, columns, dtype):
                if kernel.calls_python:
                    out[rows] = fill_block(engine, np.arange(rows.stop - rows.start)) @ right
                else:
                    out[rows] = multiply(engine, right)
    return out.reshape(out.shape[:1] + A.shape[1:])
