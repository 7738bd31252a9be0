"""Read a data file in any of the formats, detected from its name or its content."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from kernbench.datasets.errors import malformed
from kernbench.datasets.readers.compressed import SUFFIXES, open_bytes
from kernbench.datasets.readers.delimited import read_csv
from kernbench.datasets.readers.npz import read_npz
from kernbench.datasets.readers.svmlight import read_svmlight
from kernbench.validation.numbers import check_number

_FORMATS = {
    ".npz": "npz",
    ".csv": "csv",
    ".tsv": "csv",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
# A label followed by "index:value" on one line; the value has no colon, so that times such as 10:49:41 do not match.
_SVMLIGHT_LINE = re.compile(rb"^[ \t]*\S+([ \t]+qid:\S+)?[ \t]+[0-9]+:[^\s:,;]+\s", re.MULTILINE)
_SAMPLE_BYTES = 65536


def read_file(
    path: str | Path, *, label: int | str | None = -1, n_features: int | None = None
) -> tuple[Any, np.ndarray | Any]:
    """Read examples and labels from a file, plain or compressed with gzip, bzip2 or xz.

    ``.npz`` is a NumPy archive (:func:`read_npz`), ``.csv`` and ``.tsv`` are tables (:func:`read_csv`),
    ``.svm``, ``.svmlight`` and ``.libsvm`` are LIBSVM text (:func:`read_svmlight`); the format
    of a file with any other name is detected from its content.

    Parameters
    ----------
    path : str or Path
    label : int, str or None, default=-1
        The label column of a table, by position or by name; other formats store labels in a fixed place. None
        skips the labels, in any format.
    n_features : int, optional
        Required number of columns. A svmlight file with fewer is padded with empty ones.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), None with ``label=None``

    Raises
    ------
    DataFileError
        A ValueError naming file, line and column of the first fault, with what was found and expected.
    FileNotFoundError
    """
    if n_features is not None:
        check_number("n_features", n_features, at_least=1, whole=True)
    format_ = format_of(path)
    if format_ != "csv" and label not in (-1, None):
        raise ValueError(
            f"{path}: label={label!r} names a column of a table, but this is a file in {format_} format; leave it out"
        )
    if format_ == "npz":
        X, y = read_npz(path, labelled=label is not None)
    elif format_ == "csv":
        X, y = read_csv(path, label=label)
    else:
        X, y = read_svmlight(path, n_features)
        y = None if label is None else y
    if n_features is not None and X.shape[1] != n_features:
        found = f"found {X.shape[1]} feature columns{'' if y is None else ' beside the labels'}"
        raise malformed(path, f"{found}, expected {n_features}")
    return X, y


def format_of(path):
    """Return ``"npz"``, ``"csv"`` or ``"svmlight"``, from the name or the content of a file."""
    return format_from_name(path) or _format_from_content(path)


def format_from_name(path):
    """Return the format of a file by its suffix, without that of a compression; None if it says nothing."""
    path = Path(path)
    name = path.stem if path.suffix.lower() in SUFFIXES else path.name
    return _FORMATS.get(Path(name).suffix.lower())


def _format_from_content(path):
    with open_bytes(path) as file:
        start = file.read(_SAMPLE_BYTES)
    if start.startswith(b"PK\x03\x04") and b".npy" in start:  # the name of the first array; workbooks are archives, too
        return "npz"
    if b"\0" in start:
        raise malformed(path, "a binary file; expected LIBSVM text, a table (.csv, .tsv) or a NumPy archive (.npz)")
    return "svmlight" if _SVMLIGHT_LINE.search(start + b"\n") else "csv"
