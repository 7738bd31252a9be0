"""Features of rows in blocks: a map of other blocks, kept where memory allows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.distributed.blocks.kept_rows import Room, room_of
from kernbench.distributed.blocks.local_blocks import LocalBlocks

ROWS = 2048  # rows of a subset mapped at a time


class MappedBlocks(LocalBlocks):
    """The features of a fitted map, of rows that lie elsewhere.

    Parameters
    ----------
    blocks : LocalBlocks
    function : callable
        Features of an array or CSR matrix of rows, such as ``Nystroem(...).fit(X).transform``. It is called with the
        same rows each time, so that features that are recomputed are bit-identical.
    n_columns : int
        Number of features.
    dtype : dtype
        Type of the features; the result of the function is converted to it.
    n_stored : int, optional
        Number of stored entries of sparse features; by default the features are dense.
    keep_bytes : int or Room, default=0
        Memory for dense features: they are kept up to this size, and recomputed in each pass beyond. A Room is shared
        with other blocks.
    """

    blocks: Any
    room: Room

    def __init__(
        self,
        blocks: LocalBlocks,
        function: Callable[..., Any],
        n_columns: int,
        dtype: Any,
        *,
        n_stored: int | None = None,
        keep_bytes: int | Room = 0,
    ) -> None:
        self.blocks, self.function, self.room = blocks, function, room_of(keep_bytes)
        self._kept = self.room.open({})
        self._set_shape(blocks.n_rows, n_columns, dtype, n_stored=n_stored)

    def read(self, start: Any, stop: Any) -> Any:
        """Return the features of rows start to stop - 1."""
        key = start, stop
        if key in self._kept:
            return self._kept[key]
        if self.is_sparse:
            return self.function(self.blocks.read(start, stop))
        out = np.empty((stop - start, self.n_columns), dtype=self.dtype)
        first = np.searchsorted(self.starts, start, side="right") - 1
        edges = np.clip(self.starts[first : np.searchsorted(self.starts, stop) + 1], start, stop)
        pieces = [((begin, end), out[begin - start : end - start]) for begin, end in zip(edges[:-1], edges[1:])]
        for piece, features in pieces:
            # Kept ones are of the same rows: parts of others may have been rounded otherwise.
            features[:] = self._kept[piece] if piece in self._kept else self.function(self.blocks.read(*piece))
        if self.room.take(out.nbytes):
            self._kept.update(pieces)
            self._kept[key] = out
        return out

    def rows(self, indices: Any) -> Any:
        """Return the features of some rows."""
        return features_of_rows(self.function, self.blocks.rows(indices), self.dtype, self.is_sparse)

    def where(self, row: Any) -> Any:
        """Return the name of the source that holds a row, and the index of the row in it."""
        return self.blocks.where(row)


def mapped(blocks, function, n_columns, dtype, **options):
    """Return the features of blocks, computed where the rows lie; see `MappedBlocks`."""
    make = MappedBlocks if isinstance(blocks, LocalBlocks) else type(blocks).mapped
    return make(blocks, function, n_columns, dtype, **options)


def as_array(function, rows):
    """Return dense features as an array: of a transformer they are a data frame after ``set_output``, or a setting."""
    return np.asarray(function(rows))


def features_of_rows(function, rows, dtype, is_sparse):
    """Return the features of some rows, a fixed number at a time: products of other shapes may have other bits."""
    if is_sparse:
        return function(rows)
    starts = range(0, rows.shape[0], ROWS)
    return np.concatenate([function(rows[start : start + ROWS]).astype(dtype, copy=False) for start in starts])
