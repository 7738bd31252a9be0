"""Sources of rows: arrays, .npy files, svmlight and CSV text, Parquet and Arrow files.

A source has ``n_rows``, ``n_columns``, ``dtype`` (float32 or float64), ``is_sparse`` (then ``n_stored``), ``names``,
``title`` for messages, ``in_memory`` and ``is_slow`` (whether it takes longer to read than to multiply); ``read(start,
stop)`` returns rows, ``read_into(start, out)`` fills dense ones, ``take(indices)`` returns
some rows of a dense source that is not slow, ``labels()`` returns the labels it holds, or None.
"""

import re
from pathlib import Path

import numpy as np

from kernbench.datasets.errors import EmptyFile
from kernbench.datasets.readers.detect import format_from_name
from kernbench.distributed.sources.arrays import ArraySource
from kernbench.distributed.sources.columns import ColumnsSource
from kernbench.distributed.sources.npy import NpySource
from kernbench.distributed.sources.text import CsvSource, SvmlightSource
from kernbench.validation.archives import load_vector
from kernbench.validation.foreign import host_array
from kernbench.validation.numbers import is_integer

SOURCES = {
    ".npy": NpySource,
    ".svm": SvmlightSource,
    ".svmlight": SvmlightSource,
    ".libsvm": SvmlightSource,
    ".csv": CsvSource,
    ".parquet": ColumnsSource,
    ".arrow": ColumnsSource,
    ".feather": ColumnsSource,
}


def open_sources(data, label=None, least_columns=0):
    """Return a list of sources, without those that hold no rows.

    Files of sparse rows are all as wide as the widest: last columns may be empty in some.

    Parameters
    ----------
    data : str, Path, array, CSR matrix, table, or list of these or of pairs (X, y)
    label : str or int, optional
        The column that holds the labels, in files of columns.
    least_columns : int, default=0
        Of files of sparse rows.

    Raises
    ------
    ValueError
        Without rows; for a tuple that is not (X, y); and if `label` cannot be a column: of svmlight and ``.npy`` files,
        or of chunks in memory alone.
    """
    sources, faults = [], []
    for item in data if isinstance(data, list | tuple) else [data]:
        if isinstance(item, str | Path):
            for path in files_of(Path(item)):
                try:
                    sources.append(_open(path, label))
                except EmptyFile as error:
                    faults.append(error)
        elif isinstance(item, tuple):
            if not 1 <= len(item) <= 2:
                raise ValueError(
                    f"chunk {len(sources)} is a tuple of length {len(item)}, not (X, y): give weights of rows apart, "
                    "as sample_weight"
                )
            sources.append(ArraySource(*item, number=len(sources)))
        else:
            sources.append(ArraySource(item, number=len(sources)))
    if sources and all(source.in_memory for source in sources):
        _check_label(label, "the chunks")
    sources = [source for source in sources if source.n_rows > 0]
    if not sources:
        if len(faults) == 1:
            raise faults[0]
        raise ValueError(f"the data hold no rows: {faults[-1]}" if faults else "the data hold no rows")
    if sources[0].is_sparse:
        widest = max(least_columns, *(source.n_columns for source in sources))
        for source in sources:
            if not source.in_memory:
                source.n_columns = widest
                source.check_has_columns()
    return sources


def column_of(y):
    """Return the name or number of the column of labels that y may be, else None."""
    if is_integer(y):
        return int(y)
    return y if isinstance(y, str) and not Path(y).exists() else None


def read_whole(path, label):
    """Return all rows of a file, a data frame if its columns have names, and its labels; none of an empty file."""
    try:
        source = _open(Path(path), label)
    except EmptyFile:
        return np.empty((0, 0)), None
    if source.is_sparse:
        return source.read(0, source.n_rows), source.labels()
    rows = np.empty((source.n_rows, source.n_columns), dtype=source.dtype)
    source.read_into(0, rows)
    if source.names is not None:
        from pandas import DataFrame  # which Dask's data frames need, too

        rows = DataFrame(rows, columns=source.names, copy=False)
    return rows, source.labels()


def _open(path, label):
    kind = SOURCES.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"{path} has no suffix that can be read in blocks: use one of {', '.join(SOURCES)}")
    if kind in (NpySource, SvmlightSource):
        _check_label(label, path)
    return kind(path, label)


def _check_label(label, where):
    """Raise ValueError for the name or number of a column of rows that have no column of labels; -1 is a default."""
    if label not in (None, -1):
        raise ValueError(
            f"the labels {label!r} are neither a file nor a column: {where} cannot have a column of labels. Name a "
            ".npy file that exists, give an array, or leave y out where labels come with the rows"
        )


def files_of(path):
    """Return the files that a path stands for: itself, or those in the folder, in the order of their names.

    Raises
    ------
    ValueError
        If there is nothing, or a folder that holds no file to read in blocks, or text that cannot be, too.
    """
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}")
    if not path.is_dir():
        return [path]
    inside = list(path.iterdir())
    files = [file for file in inside if file.suffix.lower() in SOURCES]
    if not files:
        raise ValueError(f"the folder {path} holds no file that can be read in blocks ({', '.join(SOURCES)})")
    others = sorted(
        file.name
        for file in inside  # not archives, which may be models that were saved beside their rows
        if file.suffix.lower() not in SOURCES and format_from_name(file) in ("csv", "svmlight")
    )
    if others:
        named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        raise ValueError(
            f"the folder {path} also holds {named}, which cannot be read in blocks: unpack or convert them to "
            f"{', '.join(SOURCES)}, or move them to another folder"
        )
    return sorted(files, key=lambda file: [int(part) if part.isdigit() else part for part in _split(file.name)])


def _split(name):
    return re.split(r"(\d+)", name)


def joined_labels(parts, titles):
    """Return the labels of several sources, of these titles, as one array.

    Raises
    ------
    ValueError
        For text in one source and numbers in another, of which NumPy would make text. Objects are not looked into: they
        stay what they are, and cannot be sorted if they are of both kinds.
    """
    first = {}
    for title, part in zip(titles, parts, strict=True):
        if part.size and part.dtype.kind != "O":
            first.setdefault("text" if part.dtype.kind in "SU" else "numbers", title)
    if len(first) == 2:
        raise ValueError(
            f"the labels of {first['text']} are text, those of {first['numbers']} are numbers: use labels of one type, "
            "and leave out rows without a label"
        )
    return np.concatenate(parts)


def read_labels(y):
    """Return labels or weights that are given as an array, a ``.npy`` file, a folder of these, or a list of them."""
    if isinstance(y, str | Path):
        files = files_of(Path(y))
        return joined_labels([load_vector(path) for path in files], files)
    if (
        isinstance(y, list | tuple)
        and len(y)
        and (isinstance(y[0], str | Path) and Path(y[0]).suffix == ".npy" or np.ndim(y[0]) > 0)
    ):
        return joined_labels([read_labels(part) for part in y], [f"part {k}" for k in range(len(y))])
    return np.asarray(host_array(y, "an array of labels or weights"))
