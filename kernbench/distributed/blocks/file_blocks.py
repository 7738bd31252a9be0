"""Rows in files, which may be larger than memory."""

import threading
from typing import Any

import numpy as np
from scipy import sparse

from kernbench.distributed.blocks.kept_rows import KeptRows, Room, room_of
from kernbench.distributed.blocks.local_blocks import LocalBlocks
from kernbench.distributed.sources import joined_labels, open_sources


class FileBlocks(LocalBlocks):
    """Rows of files and arrays, one after the other; each pass reads them once.

    Parameters
    ----------
    data : str, Path, array, CSR matrix, or list of these
        Files in the formats of `kernbench.distributed.sources`; a folder stands for the files in it, in the order of
        their names (part-2 comes before part-10).
    label : str or int, optional
        The column that holds the labels, in files of columns.
    keep_bytes : int or Room, default=0
        Memory for rows that are slow to read (text and Parquet): they are kept up to there, and read again beyond. A
        Room is shared with other blocks.
    least_columns : int, default=0
        Columns that files of sparse rows have at the least, whatever the largest index in them.

    Attributes
    ----------
    y : ndarray of shape (n_rows,), or None
        Labels, where the files hold them.
    names : ndarray of str, or None
        Names of the columns, where some of the files hold them.
    """

    room: Room

    def __init__(self, data: Any, *, label: Any = None, keep_bytes: int | Room = 0, least_columns: int = 0) -> None:
        self.sources: list[Any] = open_sources(data, label, least_columns)
        sizes = [source.n_rows for source in self.sources]
        self.bounds: np.ndarray = np.concatenate([[0], np.cumsum(sizes)])
        first = self.sources[0]
        named = next((source for source in self.sources if source.names is not None), first)
        n_columns = max(source.n_columns for source in self.sources)
        for source in self.sources:
            _check_alike(source, first, named, n_columns)
        stored = sum(source.n_stored for source in self.sources) if first.is_sparse else None
        self._set_shape(self.bounds[-1], n_columns, first.dtype, n_stored=stored)
        parts = [source.labels() for source in self.sources]
        titles = [source.title for source in self.sources]
        self.y: np.ndarray | None = None if any(part is None for part in parts) else joined_labels(parts, titles)
        self.names: Any = named.names
        self._local = threading.local()
        self.keep_in(room_of(keep_bytes))

    def keep_in(self, room: Room) -> None:
        """Use the memory of `room` for the rows that are kept from now on."""
        self.room, self._kept = room, room.open(KeptRows())

    def read(self, start: Any, stop: Any) -> Any:
        """Return rows start to stop - 1."""
        k = int(np.searchsorted(self.bounds, start, side="right")) - 1
        if self.sources[k].in_memory and stop <= self.bounds[k + 1]:
            return self.sources[k].read(start - self.bounds[k], stop - self.bounds[k])
        found = self._kept.stretches(start, stop)
        if self.is_sparse:
            parts = [self._read_sparse(begin, end) if rows is None else rows for begin, end, rows in found]
            return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")
        if len(found) == 1 and found[0][2] is not None:
            return found[0][2]
        out = self._buffer(stop - start)
        for begin, end, rows in found:
            if rows is None:
                self._read_dense(begin, out[begin - start : end - start])
            else:
                out[begin - start : end - start] = rows
        return out

    def rows(self, indices: Any) -> Any:
        """Return some rows."""
        if any(source.is_sparse or source.is_slow for source in self.sources):
            return super().rows(indices)
        out = np.empty((len(indices), self.n_columns), dtype=self.dtype)
        files = np.searchsorted(self.bounds, indices, side="right") - 1
        for k in np.unique(files):
            here = np.flatnonzero(files == k)
            out[here] = self.sources[k].take(indices[here] - self.bounds[k])
        return out

    def where(self, row: Any) -> Any:
        """Return the name of the source that holds a row, and the index of the row in it."""
        k = int(np.searchsorted(self.bounds, row, side="right")) - 1
        return self.sources[k].title, int(row - self.bounds[k])

    def _spans(self, start, stop):
        """Return (source, begin, end) for each source that holds some of rows start to stop - 1: its rows from `begin`
        to `end` - 1."""
        first, last = np.searchsorted(self.bounds, (start, stop - 1), side="right") - 1
        edges = np.clip(self.bounds[first : last + 2], start, stop)
        return [
            (self.sources[k], begin - self.bounds[k], end - self.bounds[k])
            for k, begin, end in zip(range(first, last + 1), edges[:-1], edges[1:])
        ]

    def _read_sparse(self, start, stop):
        parts, place = [], start
        for source, begin, end in self._spans(start, stop):
            parts.append(source.read(begin, end))
            self._keep(place, parts[-1], source)
            place += end - begin
        return parts[0] if len(parts) == 1 else sparse.vstack(parts, format="csr")

    def _read_dense(self, start, out):
        """Fill `out` with the rows from `start` on."""
        place = 0
        for source, begin, end in self._spans(start, start + len(out)):
            rows = out[place : place + end - begin]
            source.read_into(begin, rows)
            self._keep(start + place, rows, source)
            place += end - begin

    def _keep(self, start, rows, source):
        """Keep rows that are slow to read while there is memory."""
        if source.is_slow and self.room.take(_n_bytes(rows)):
            self._kept.add(start, rows.copy())  # dense ones lie in the buffer, which the next block overwrites

    def _buffer(self, n_rows):
        """Return an array for rows, that of this thread, which lasts until its next block."""
        buffer = getattr(self._local, "buffer", None)
        if buffer is None or len(buffer) < n_rows:
            buffer = self._local.buffer = np.empty((n_rows, self.n_columns), dtype=self.dtype)
        return buffer[:n_rows]

    def __getstate__(self) -> Any:
        return {**self.__dict__, "_kept": None, "_local": None}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state, _local=threading.local())
        self.keep_in(self.room)


def _n_bytes(rows):
    if sparse.issparse(rows):
        return rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    return rows.nbytes


def _check_alike(source, first, named, n_columns):
    if source.is_sparse != first.is_sparse:
        raise ValueError(f"{source.title} and {first.title} differ: one holds sparse rows, the other dense ones")
    if source.dtype != first.dtype:
        raise ValueError(
            f"{source.title} has dtype {source.dtype}, {first.title} has {first.dtype}: convert all of them to one"
        )
    if source.n_columns != n_columns:  # files of sparse rows have been given the columns of the widest
        raise ValueError(
            f"{source.title} has {source.n_columns} columns, others have {n_columns}: all must have the same"
        )
    if source.names is not None and list(source.names) != list(named.names):
        raise ValueError(f"{source.title} has other columns than {named.title}, or in another order")
