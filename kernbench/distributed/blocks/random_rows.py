"""Rows in blocks that are read by their indices, in any order, or chunk after chunk."""

import numpy as np
from scipy import sparse

from kernbench.distributed.spaces import DrawnRows

ROWS = 16_384  # fetched at a time, of rows on workers


class RowsBetween:
    """Rows `begin` to `end` - 1, read on demand.

    Parameters
    ----------
    rows : object
        ``rows[indices]`` are some rows of all.
    begin, end : int
    """

    def __init__(self, rows, begin, end):
        self.rows, self.begin = rows, int(begin)
        self.shape, self.dtype = (int(end - begin), rows.shape[1]), rows.dtype

    def __getitem__(self, indices):
        return self.rows[self.begin + np.asarray(indices)]

    fetch = __getitem__


def rows_at_random(blocks, room):
    """Return a source for random rows: the blocks or, if reading single rows from them is slow, all rows in memory.

    What is kept in `room` is released, at the latest when all rows are in memory: it is not read again.

    Raises
    ------
    ValueError
        If rows in text or Parquet files do not fit in the room.
    """
    sources = () if blocks.is_remote else origin_of(blocks)[0].sources
    slow = [source for source in sources if source.is_slow]
    if not slow and not any(source.is_sparse for source in sources):
        return DrawnRows(blocks)
    n_bytes = (blocks.dtype.itemsize + 4 * blocks.is_sparse) * blocks.n_values
    if n_bytes > room.n_bytes and slow:
        raise ValueError(
            f"rows are drawn at random here, and {slow[0].title} is slow to read so: write the rows as .npy "
            f"files, or give memory={n_bytes} or more"
        )
    if not room.take(n_bytes):  # beside what is kept, which would save reading rows again
        room.clear()
        room.take(n_bytes)
    rows = all_rows(blocks)
    room.clear()
    return rows


def all_rows(blocks):
    """Return all rows as one array or CSR matrix, which is filled block after block: a list of them would be a copy."""
    start = place = 0
    if not blocks.is_sparse:
        rows = np.empty(blocks.shape, dtype=blocks.dtype)
        for part in blocks.parts():
            rows[start : start + len(part)] = part
            start += len(part)
        return rows
    kind = sparse.get_index_dtype(maxval=max(blocks.n_values, blocks.n_columns))
    data, indices = np.empty(blocks.n_values, dtype=blocks.dtype), np.empty(blocks.n_values, dtype=kind)
    indptr = np.zeros(blocks.n_rows + 1, dtype=kind)
    for part in blocks.parts():
        stop, end = start + part.shape[0], place + part.nnz
        data[place:end], indices[place:end] = part.data[: part.nnz], part.indices[: part.nnz]
        indptr[start + 1 : stop + 1] = place + part.indptr[1:]
        start, place = stop, end
    return sparse.csr_matrix((data, indices, indptr), shape=blocks.shape)


def origin_of(blocks):
    """Return the rows as they are held or read, and the maps from there to `blocks`."""
    if blocks.is_remote:
        maps = []
        while blocks._origin is not None:
            blocks, function = blocks._origin
            maps.insert(0, function)
        return blocks, maps
    maps = []
    while hasattr(blocks, "function"):
        maps.insert(0, blocks.function)
        blocks = blocks.blocks
    return blocks, maps


def chunks_in_order(blocks):
    """Yield pairs of a row's index and the rows from there on, some thousand at a time."""
    if blocks.is_remote:
        for start in range(0, blocks.n_rows, ROWS):
            yield start, blocks.rows(np.arange(start, min(start + ROWS, blocks.n_rows)))
        return
    start, waiting = 0, []
    for part in blocks.parts():
        waiting.append(part)
        n_rows = sum(rows.shape[0] for rows in waiting)
        if n_rows >= ROWS or start + n_rows == blocks.n_rows:
            yield start, sparse.vstack(waiting, format="csr") if blocks.is_sparse else np.concatenate(waiting)
            start, waiting = start + n_rows, []
