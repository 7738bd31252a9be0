"""Read a user's data file, whatever of the three formats it is in."""

import re
from pathlib import Path

from kernbench.datasets.delimited import read_csv
from kernbench.datasets.errors import malformed
from kernbench.datasets.npz import read_npz
from kernbench.datasets.packed import open_unpacked, unpacked_name
from kernbench.datasets.svmlight import read_svmlight

__all__ = ["read_csv", "read_file", "read_npz", "read_svmlight"]

_READERS = {
    ".npz": "npz",
    ".csv": "csv",
    ".tsv": "csv",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
# A line that goes on "index:value" after its label; the value keeps clear of times such as 10:49:41.
_SVMLIGHT_LINE = re.compile(rb"^\s*\S+(\s+qid:\S+)?\s+[0-9]+:[^\s:,;]+\s", re.MULTILINE)
_LOOK_BYTES = 65536


def read_file(path, *, label=-1, n_features=None):
    """Read examples and labels from a file, plain or packed with gzip, bzip2 or xz.

    ``.npz`` is a NumPy archive (:func:`read_npz`), ``.csv`` and ``.tsv`` are tables (:func:`read_csv`),
    ``.svm``, ``.svmlight`` and ``.libsvm`` are LIBSVM text (:func:`read_svmlight`); under any other name the
    content tells.

    Parameters
    ----------
    path : str or Path
    label : int, str or None, default=-1
        The label column of a table, by position or by name; other formats have a fixed place for labels. None
        means that labels are not wanted, in any format.
    n_features : int, optional
        Number of columns the examples must have. A svmlight file with fewer gets empty ones.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or None with ``label=None``

    Raises
    ------
    DataFileError
        A ValueError naming file, line and column of the first fault, with what was found and expected.
    FileNotFoundError
    """
    layout = _READERS.get(Path(unpacked_name(path)).suffix.lower()) or _layout_from_content(path)
    if layout != "csv" and label not in (-1, None):
        raise ValueError(
            f"{path}: label={label!r} names a column of a table, but this is a file in {layout} format; "
            "leave it out"
        )
    if layout == "npz":
        X, y = read_npz(path, labelled=label is not None)
    elif layout == "csv":
        X, y = read_csv(path, label=label)
    else:
        X, y = read_svmlight(path, n_features)
        y = None if label is None else y
    if n_features is not None and X.shape[1] != n_features:
        raise malformed(path, f"found {X.shape[1]} feature columns, expected {n_features}")
    return X, y


def _layout_from_content(path):
    with open_unpacked(path) as file:
        start = file.read(_LOOK_BYTES)
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if b"\0" in start:
        raise malformed(
            path, "a binary file; expected LIBSVM text, a table (.csv, .tsv) or a NumPy archive (.npz)"
        )
    return "svmlight" if _SVMLIGHT_LINE.search(start + b"\n") else "csv"
