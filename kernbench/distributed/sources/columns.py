"""Parquet and Arrow files, where pyarrow is installed."""

import threading

import numpy as np

from kernbench.datasets.errors import arrow_faults
from kernbench.validation.columns import check_numeric, data_columns, label_values


class ColumnsSource:
    """A table of numbers in row groups (Parquet) or record batches (Arrow, Feather); the last ones read are kept."""

    is_sparse, in_memory, is_slow = False, False, True
    KEPT = 2  # groups held

    def __init__(self, path, label=None):
        self.title, self._path = str(path), str(path)
        self._open()
        schema, sizes = self._schema, self._sizes
        columns = data_columns(schema, label, path)
        if label is not None and not isinstance(label, str):
            if not -len(columns) <= label < len(columns):
                raise ValueError(f"{path}: there is no column {label}; it has {len(columns)} columns")
            label = columns[label]
        if label is not None and label not in columns:
            raise ValueError(f"{path} has no column {label!r} for the labels: its columns are {columns}")
        self._label, self._columns = label, [name for name in columns if name != label]
        if any(sizes):  # columns without rows may be of no type
            check_numeric(schema, self._columns, path)
        kinds = {schema.field(name).type.to_pandas_dtype() for name in self._columns}
        self.dtype = np.dtype(np.float32 if kinds == {np.float32} else np.float64)
        self.names = np.array(self._columns, dtype=object)
        self._bounds = np.concatenate([[0], np.cumsum(sizes)])
        self.n_rows, self.n_columns = int(self._bounds[-1]), len(self._columns)

    def _open(self):
        try:
            import pyarrow
            from pyarrow import ipc, parquet
        except ImportError:
            raise ValueError(f"{self.title} needs pyarrow: pip install pyarrow, or save the rows as .npy") from None
        self._lock, self._groups = threading.Lock(), {}
        with arrow_faults(self._path):
            self._find_groups(pyarrow, ipc, parquet)

    def _find_groups(self, pyarrow, ipc, parquet):
        """Set schema and sizes of the row groups, and the function that reads one of them."""
        # Files are open while they are read only: a folder may hold thousands.
        if self._path.lower().endswith(".parquet"):
            with parquet.ParquetFile(self._path) as file:
                metadata, self._schema = file.metadata, file.schema_arrow
            self._sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]

            def read(k, names):
                with parquet.ParquetFile(self._path, metadata=metadata) as file:
                    return file.read_row_group(k, columns=names)

        else:

            def opened():
                return ipc.open_file(pyarrow.memory_map(self._path))

            def read(k, names):
                return pyarrow.Table.from_batches([opened().get_batch(k)]).select(names)

            file = opened()
            self._schema = file.schema
            self._sizes = [file.get_batch(k).num_rows for k in range(file.num_record_batches)]
        self._read = arrow_faults(self._path)(read)

    def read_into(self, start, out):
        """Fill `out` with the rows from `start` on."""
        stop, place = start + len(out), 0
        first = int(np.searchsorted(self._bounds, start, side="right")) - 1
        while start + place < stop:
            group = self._group(first)
            begin = start + place - self._bounds[first]
            taken = group[begin : begin + len(out) - place]
            out[place : place + len(taken)] = taken
            place, first = place + len(taken), first + 1

    def _group(self, k):
        with self._lock:
            if k not in self._groups:
                table = self._read(k, self._columns)
                rows = np.empty((table.num_rows, self.n_columns), dtype=self.dtype)
                for j, name in enumerate(self._columns):
                    rows[:, j] = table[name].to_numpy()  # missing values become NaN
                while len(self._groups) >= self.KEPT:
                    self._groups.pop(next(iter(self._groups)))
                self._groups[k] = rows
            return self._groups[k]

    def labels(self):
        """Return the labels, None without a column of them."""
        if self._label is None:
            return None
        parts = [label_values(self._read(k, [self._label])[self._label]) for k in range(len(self._sizes))]
        return np.concatenate(parts) if parts else np.empty(0)

    def __getstate__(self):
        hidden = ("_lock", "_groups", "_read", "_schema")
        return {name: value for name, value in self.__dict__.items() if name not in hidden}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._open()
