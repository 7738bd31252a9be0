"""NumPy archives: ``X`` and ``y``, or ``X_train``, ``y_train``, ``X_test`` and ``y_test``.

A CSR matrix ``X`` is stored as the four arrays ``X_data``, ``X_indices``, ``X_indptr`` and ``X_shape``.
"""

import io
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernbench._files import written_whole
from kernbench._typing import Rows
from kernbench.datasets.errors import malformed
from kernbench.datasets.readers.compressed import open_bytes
from kernbench.datasets.readers.conventions import integers_if_whole, with_small_indices
from kernbench.validation.archives import check_memory, read_member
from kernbench.validation.arrays import check_indices, csr_from_parts, without_duplicates

CSR_PARTS = ("data", "indices", "indptr", "shape")
# What zipfile and NumPy raise on damaged, encrypted or foreign members.
_DAMAGE = (ValueError, EOFError, OSError, KeyError, RuntimeError, NotImplementedError, MemoryError, zipfile.BadZipFile,
           zlib.error)  # fmt: skip


def read_npz(path: str | Path, *, part: str | None = None, labelled: bool = True) -> tuple[Any, np.ndarray | Any]:
    """Read examples and labels from a NumPy archive; pickled objects are rejected.

    Parameters
    ----------
    path : str or Path
    part : {None, "train", "test"}, default=None
        Which arrays to read: ``X`` and ``y``, or ``X_train`` and ``y_train``, or ``X_test`` and ``y_test``.
        None reads ``X``, or the training part of a file without ``X``.
    labelled : bool, default=True
        False skips the labels and returns None for `y`.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        float32 stays float32; all other numeric types become float64.
    y : ndarray of shape (n_samples,) or None
        Labels as stored; booleans and whole float labels become int64.

    Raises
    ------
    DataFileError
        A ValueError naming file and array: a truncated archive, a missing array, pickled objects, a wrong number
        of dimensions, NaN or infinity, inconsistent CSR arrays, different numbers of rows and labels.
    """
    if part not in (None, "train", "test"):
        raise ValueError(f"part must be None, 'train' or 'test', got {part!r}")
    with _opened(path) as archive:
        suffix = _suffix(path, archive, part)
        X = _matrix(path, archive, "X" + suffix)
        y = _labels(path, archive, "y" + suffix) if labelled else None
    if y is not None and X.shape[0] != len(y):
        raise malformed(path, f"X{suffix} has {X.shape[0]} rows but y{suffix} has {len(y)} labels")
    return X, y


def holds_labels(path):
    """Return whether `read_npz` finds labels beside the rows of an archive."""
    with _opened(path) as archive:
        return "y" + _suffix(path, archive, None) in archive


def read_arrays(path, names):
    """Return the arrays called `names` as stored, unchecked, from an archive whose checksum is known to be right.

    Raises
    ------
    DataFileError
        A ValueError naming file and array: a truncated archive, a missing array, pickled objects.
    """
    with _opened(path) as archive:
        return [_array(path, archive, name) for name in names]


def write_npz(path: str | Path, X: Rows, y: ArrayLike) -> None:
    """Write examples as a compressed NumPy archive, bit for bit, in the layout of :func:`read_npz`.

    Parameters
    ----------
    path : str or Path
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Finite numbers.
    y : array-like of shape (n_samples,)
        Finite numbers or strings.

    Raises
    ------
    ValueError
        For what `read_npz` would refuse; nothing is written then.

    Notes
    -----
    Entries of a sparse matrix at the same place are added up.
    """
    y = np.asarray(y)
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"X must have two dimensions, and y a label for each row; got shapes {X.shape} and {y.shape}")
    if sparse.issparse(X):
        check_indices(X)
        X = without_duplicates(sparse.csr_matrix(X))
        arrays = {f"X_{part}": np.asarray(getattr(X, part)) for part in CSR_PARTS}
    else:
        arrays = {"X": X}
    for name, array in {"y": y, **arrays}.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name} holds Python objects; convert it to numbers (labels: or to strings) first")
    if 0 in X.shape:
        raise ValueError(f"X is empty: its shape is {X.shape}")
    values = "X_data" if sparse.issparse(X) else "X"
    _numbers(path, values, arrays[values])
    _numbers_or_text(path, "y", y)
    with written_whole(path, "wb") as file:
        np.savez_compressed(file, y=y, **arrays)


@contextmanager
def _opened(path):
    with open_bytes(path) as file:
        if not zipfile.is_zipfile(file):
            raise malformed(path, "not a complete .npz archive (a zip file): truncated, or of another format")
        file.seek(0)
        content = io.BytesIO(file.read())
    try:
        archive = np.load(content, allow_pickle=False)
    except _DAMAGE as error:
        raise malformed(path, f"the .npz archive is damaged ({error})") from None
    with archive:
        yield archive


def _suffix(path, archive, part):
    candidates = ("", "_train") if part is None else (f"_{part}",)
    for suffix in candidates:
        if f"X{suffix}" in archive or f"X{suffix}_data" in archive:
            return suffix
    wanted = " or ".join(f"'X{suffix}'" for suffix in candidates)
    sparse_wanted = f"'X{candidates[0]}_data' …"
    raise malformed(path, f"no array {wanted} (nor the CSR arrays {sparse_wanted}); {_holds(archive)}")


def _holds(archive):
    return "the file holds " + (", ".join(map(repr, archive.files)) or "no arrays")


def _array(path, archive, name):
    if name not in archive:
        raise malformed(path, f"the array {name!r} is missing; {_holds(archive)}")
    try:
        return read_member(archive, name)
    except _DAMAGE as error:
        if "allow_pickle" in str(error) or "Object arrays" in str(error):
            problem = "holds Python objects; store numbers (or strings for labels) instead"
        else:
            problem = f"is damaged ({error})"
        raise malformed(path, f"the array {name!r} {problem}") from None


def _matrix(path, archive, name):
    if name in archive:
        X = _numbers(path, name, _array(path, archive, name))
        if X.ndim != 2:
            advice = "expected (n_samples, n_features); reshape it first"
            raise malformed(path, f"the array {name!r} has shape {X.shape}, {advice}")
    else:
        X = _csr(path, name, *(_array(path, archive, f"{name}_{part}") for part in CSR_PARTS))
    if 0 in X.shape:
        raise malformed(path, f"{name!r} is empty: its shape is {X.shape}")
    return X


def _csr(path, name, data, indices, indptr, shape):
    data = _numbers(path, f"{name}_data", data)
    try:
        X = csr_from_parts(data, indices, indptr, shape, name)
    except ValueError as error:
        raise malformed(path, str(error)) from None
    X.sort_indices()
    if not X.has_canonical_format:
        raise malformed(path, f"the CSR matrix {name!r} has duplicate entries; sum or drop them first")
    return with_small_indices(X)


def _numbers(path, name, array):
    if array.dtype.kind not in "biuf":
        raise malformed(path, f"the array {name!r} is of type {array.dtype}, expected numbers")
    if array.dtype not in (np.float32, np.float64):
        try:
            check_memory(8 * array.size)  # of a second array, up to eight times as large
        except ValueError as error:
            raise malformed(path, f"the array {name!r} is too large as float64: {error}") from None
        array = array.astype(np.float64)
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise malformed(
            path,
            f"the array {name!r} holds {array[where]} at {list(where)} (counted from 0); "
            "remove or impute such values first",
        )
    return array


def _labels(path, archive, name):
    y = _array(path, archive, name)
    if y.ndim != 1:
        raise malformed(path, f"the array {name!r} has shape {y.shape}, expected (n_samples,)")
    return _numbers_or_text(path, name, y)


def _numbers_or_text(path, name, y):
    if y.dtype.kind in "iuU":
        return y
    if y.dtype.kind not in "bf":
        raise malformed(path, f"the array {name!r} is of type {y.dtype}, expected numbers or strings")
    return integers_if_whole(_numbers(path, name, y))
