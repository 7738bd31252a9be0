"""Arrays in ``.npy`` files, read without mapping them, so that their pages do not count as memory of this process."""

import os

import numpy as np

from kernbench.validation.archives import read_header


class NpySource:
    """A two-dimensional array in C order."""

    is_sparse, in_memory, is_slow, names = False, False, False, None

    def __init__(self, path, label=None):
        self.title = str(path)
        with open(path, "rb") as file:
            shape, fortran, dtype = read_header(file, path)
            self._offset = file.tell()
        if len(shape) != 2:
            raise ValueError(f"{path} must hold an array of two dimensions, got shape {shape}")
        if fortran and min(shape) > 1:
            raise ValueError(f"{path} is in Fortran order: save numpy.ascontiguousarray(X), so that rows are together")
        if dtype.kind not in "fiub":
            raise ValueError(f"{path} must hold numbers, got dtype {dtype}")
        self.n_rows, self.n_columns = shape
        self._stored, self._path = dtype, path
        if os.path.getsize(path) < self._offset + self.n_rows * self.n_columns * dtype.itemsize:
            raise ValueError(f"{path} is shorter than its header says: it is truncated")
        self.dtype = dtype.newbyteorder("=") if dtype in (np.float32, np.float64) else np.dtype(np.float64)

    def read_into(self, start, out):
        """Fill `out` with the rows from `start` on."""
        rows = out if out.dtype == self._stored else np.empty(out.shape, dtype=self._stored)
        with self._opened() as file:
            self._fill(file, start, rows)
        if rows is not out:
            out[:] = rows

    def take(self, indices):
        """Return some rows."""
        rows = np.empty((len(indices), self.n_columns), dtype=self._stored)
        begins = np.flatnonzero(np.diff(indices, prepend=indices[:1] - 2) != 1)  # of runs of successive rows
        with self._opened() as file:
            for begin, end in zip(begins, [*begins[1:], len(rows)]):
                self._fill(file, indices[begin], rows[begin:end])
        return rows

    def _opened(self):
        """Open the file, for one call only: a folder may hold thousands."""
        return open(self._path, "rb", buffering=0)

    def _fill(self, file, start, rows):
        """Read the rows from `start` on."""
        if rows.size == 0:
            return  # a view of no bytes cannot be cast
        left = memoryview(rows).cast("B")
        file.seek(self._offset + int(start) * self.n_columns * self._stored.itemsize)
        while left:
            count = file.readinto(left)
            if count == 0:
                raise ValueError(f"{self.title} ended while it was read")
            left = left[count:]

    def labels(self):
        """Return None: labels are in other files."""
