"""Data files of any size, read a number of rows at a time."""

import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kernbench.datasets.errors import arrow_faults, malformed
from kernbench.datasets.readers.compressed import open_text
from kernbench.datasets.readers.conventions import integers_if_whole
from kernbench.datasets.readers.delimited import parse_lines
from kernbench.datasets.readers.delimited_layout import detect_layout, name_or_position
from kernbench.datasets.readers.detect import format_of
from kernbench.datasets.readers.svmlight import count_columns, svmlight_chunks
from kernbench.validation.archives import read_header
from kernbench.validation.columns import check_numeric, data_columns, decoded
from kernbench.validation.numbers import check_number

COLUMN_FORMATS = {".parquet": "parquet", ".arrow": "arrow", ".feather": "feather"}


def chunks(path: str | Path, rows: int, *, label: int | str | None = -1, n_features: int | None = None) -> Any:
    """Read a data file in chunks, for ``fit_chunks`` of the estimators that learn from streams.

    Parameters
    ----------
    path : str or Path
        svmlight / LIBSVM text and tables (plain or compressed with gzip, bzip2 or xz), ``.npy`` arrays of two
        dimensions, which are mapped into memory, and ``.parquet``, ``.arrow`` and ``.feather``, which need pyarrow.
    rows : int
        Rows of a chunk; the last one may have fewer, and so may those of pyarrow and of text with comments or blank
        lines.
    label : int, str or None, default=-1
        The label column of a table or an array, by position or by name. None skips the labels, in any format: all
        columns of a table or an array are features then. An index that pandas or Dask stored in the file is left out,
        and has no position, but may be named.
    n_features : int, optional
        Number of columns of a svmlight file, whose rows do not say; by default a pass over the file finds out.

    Returns
    -------
    FileChunks
        Yields (X, y) in the order of the file, each time from its beginning; y is None with ``label=None``.

    Raises
    ------
    DataFileError
        As `read_file`, when the faulty chunk is reached.

    Examples
    --------
    >>> from kernbench import DoublyStochasticClassifier
    >>> from kernbench.datasets import chunks
    >>> model = DoublyStochasticClassifier()
    >>> model.fit_chunks(chunks("train.svm", 50_000))  # doctest: +SKIP
    """
    check_number("rows", rows, at_least=1, at_most=sys.maxsize, whole=True)
    if n_features is not None:
        check_number("n_features", n_features, at_least=1, whole=True)
    return FileChunks(Path(path), int(rows), name_or_position(label), n_features)


class FileChunks:
    """The chunks of a file; see `chunks`.

    Attributes
    ----------
    n_rows : int
        Rows given by the last iteration so far.
    """

    def __init__(self, path, rows, label, n_features):
        self.path, self.rows, self.label, self.n_features, self.n_rows = path, rows, label, n_features, 0
        suffix = path.suffix.lower()
        if suffix == ".npy":
            self._read = self._mapped
        elif suffix in COLUMN_FORMATS:
            self._read = self._columns
        else:
            self._read = {"svmlight": self._svmlight, "csv": self._table}.get(format_of(path))
        if self._read is None:
            raise ValueError(
                f"{path} cannot be read in chunks: save the array as .npy, or read it whole with read_file"
            )
        if self._read == self._svmlight and label not in (-1, None):
            raise ValueError(f"{path}: label={label!r} names a column of a table; leave it out")

    def __iter__(self):
        self.n_rows = 0
        for X, y in self._read():
            self.n_rows += X.shape[0]
            yield X, y

    def _svmlight(self):
        if self.n_features is None:
            self.n_features = count_columns(self.path, self.rows)
        for X, y in svmlight_chunks(self.path, self.rows, self.n_features):
            yield X, None if self.label is None else y

    def _table(self):
        layout = detect_layout(self.path, self.label, None, "auto")
        with open_text(self.path) as file:
            for _ in range(layout.n_skipped):
                next(file)
            while lines := list(islice(file, self.rows)):
                if not all(line.isspace() for line in lines):
                    yield parse_lines(lines, self.path, layout)

    def _mapped(self):
        try:
            with open(self.path, "rb") as file:
                read_header(file, self.path.name)
            table = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            raise malformed(self.path, f"not an array as numpy.save writes them ({error})") from None
        least, wanted = (1, "features") if self.label is None else (2, "features and a label column")
        if table.ndim != 2 or table.dtype.kind not in "fiub" or table.shape[1] < least:
            raise malformed(
                self.path, f"expected numbers in two dimensions, {wanted}; found shape {table.shape} of {table.dtype}"
            )
        label = None if self.label is None else self._position(table.shape[1])
        for start in range(0, len(table), self.rows):
            part = np.asarray(table[start : start + self.rows])
            self._refuse_missing(part, range(table.shape[1]))
            if label is None:
                yield part, None
            else:
                yield np.delete(part, label, axis=1), integers_if_whole(part[:, label])

    def _columns(self):
        try:
            from pyarrow import dataset
        except ImportError:
            raise ValueError(f"{self.path} needs pyarrow: pip install pyarrow") from None
        with arrow_faults(self.path):
            table = dataset.dataset(self.path, format=COLUMN_FORMATS[self.path.suffix.lower()])
        names = data_columns(table.schema, self.label, self.path)
        if isinstance(self.label, str) and self.label not in names:
            raise ValueError(f"{self.path}: there is no column {self.label!r}, only {', '.join(names)}")
        label = names[self._position(len(names))] if isinstance(self.label, int) else self.label
        columns = [name for name in names if name != label]
        if not columns:
            raise malformed(self.path, f"expected columns of features, found {len(names)} in all")
        check_numeric(table.schema, columns, self.path)

        def batches():
            with arrow_faults(self.path):
                yield from table.to_batches(batch_size=self.rows)

        for batch in batches():
            if batch.num_rows:
                X = np.column_stack([batch[name].to_numpy(zero_copy_only=False) for name in columns])
                self._refuse_missing(X, columns)
                if label is None:
                    yield X, None
                    continue
                labels = decoded(batch[label])
                y = labels.to_numpy(zero_copy_only=False)
                if y.dtype.kind != "O" or labels.null_count:
                    self._refuse_missing(y[:, None], [label])
                yield X, integers_if_whole(y) if y.dtype.kind == "f" else y

    def _refuse_missing(self, values, columns):
        """Raise `DataFileError` for the first number that is not finite, or text that is missing, in these columns."""
        if values.dtype.kind == "O":
            present = np.array([[value is not None for value in row] for row in values])
        else:
            present = np.isfinite(values)
        if not present.all():
            row, column = (int(place) for place in np.argwhere(~present)[0])
            where = f"column {columns[column]!r}, row {self.n_rows + row} (counted from 0)"
            raise malformed(self.path, f"{where}: found {values[row, column]}; remove or impute such values first")

    def _position(self, n_columns):
        if isinstance(self.label, str):
            raise ValueError(
                f"{self.path}: columns of an array have no names; give the label's position, not {self.label!r}"
            )
        if not -n_columns <= self.label < n_columns:
            raise ValueError(f"{self.path}: there is no column {self.label}, only {n_columns}")
        return self.label % n_columns
