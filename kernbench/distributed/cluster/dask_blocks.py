"""Rows on the workers of a Dask cluster: a pass is one task for each worker."""

from functools import partial

import numpy as np
from scipy import sparse

from kernbench.distributed.blocks.kept_rows import room_of
from kernbench.distributed.blocks.mapped_blocks import features_of_rows
from kernbench.distributed.cluster import held_rows
from kernbench.distributed.cluster.actors import Actors
from kernbench.distributed.cluster.held_rows import Layout
from kernbench.distributed.cluster.workers import addresses, check_workers, gathered_parts
from kernbench.solvers.design._block_design import add_in_order

PART_BYTES = 64 << 20  # of rows in one partition, if a leaf is not larger


class DaskBlocks:
    """Rows held by workers; see `RowBlocks`.

    Rows are repartitioned at leaves (see `leaf_starts`); columns are kept together. Sums are returned chunk by chunk
    and added in order, so that the result has the same bits for any number of workers. Partitions of a lost worker are
    computed again by Dask, and the pass is repeated.

    Parameters
    ----------
    client : distributed.Client
    chunks : list of Future
        Arrays, CSR matrices or data frames of successive rows.

    Attributes
    ----------
    n_passes, n_bytes_sent, n_bytes_received : int
        Passes over the rows so far, and the bytes of arrays sent to and received from workers.
    """

    is_remote = True

    def __init__(self, client, chunks):
        self.client = client
        check_workers(client, held_rows.__name__)
        self._reset_counts()
        described = gathered_parts(client, client.map(held_rows.describe, chunks, pure=False))
        chunks, described = _without_empty(chunks, described)
        self.names = _checked_names(described)
        sizes = [shape[0] for shape, *_ in described]
        dtype = described[0][1]
        stored = None if described[0][2] is None else sum(n for _, _, n, _ in described)
        self._origin = None
        self.chunk_starts = np.concatenate([[0], np.cumsum(sizes)])
        self._use(Layout(int(self.chunk_starts[-1]), described[0][0][1], dtype, stored), chunks, self.chunk_starts)

    def _reset_counts(self):
        self.n_passes = self.n_bytes_sent = self.n_bytes_received = 0

    def _use(self, layout, parts, starts):
        """Cut parts, of which part k begins at row starts[k], at the leaves of what `layout` describes."""
        shape = layout.blocks()
        self.layout, self.starts, self.leaves = layout, shape.starts, shape.leaves
        self.n_rows, self.n_columns, self.n_values = shape.n_rows, shape.n_columns, shape.n_values
        self.shape, self.dtype, self.is_sparse = shape.shape, shape.dtype, shape.is_sparse
        edges = _edges(self.leaves, max(1, layout_bytes(layout) // max(1, self.n_rows)), len(addresses(self.client)))
        self.bounds = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:])]
        self.parts = self._cut(edges, parts, starts, layout.dtype)
        self._make_actors()

    def parts_at(self, edges):
        """Return futures of the rows between successive edges."""
        return self._cut(edges, self.parts, np.array([a for a, _ in self.bounds] + [self.n_rows]), self.layout.dtype)

    def _cut(self, edges, parts, starts, dtype):
        """Return futures of rows edges[k] to edges[k + 1] - 1, where part k begins at row starts[k]."""
        found = []
        for begin, end in zip(edges[:-1], edges[1:]):
            first, last = np.searchsorted(starts, (begin, end), side="right") - (1, 0)
            last = min(last, int(np.searchsorted(starts, end)))
            pieces = [
                (int(max(begin, starts[k]) - starts[k]), int(min(end, starts[k + 1]) - starts[k]))
                for k in range(first, last)
            ]
            found.append(self.client.submit(held_rows.cut, parts[first:last], pieces, dtype, pure=False))
        return found

    def mapped(self, function, n_columns, dtype, *, n_stored=None, keep_bytes=0):
        """Return the features of the rows; the workers keep them if `keep_bytes`, a number or a Room, is enough."""
        made = object.__new__(DaskBlocks)
        made.client, made.names, made.chunk_starts = self.client, None, self.chunk_starts
        made._origin = self, function
        made._reset_counts()
        layout = self.layout
        maps = (*layout.maps, (function, n_columns, np.dtype(dtype).name, n_stored))
        layout = Layout(layout.n_rows, layout.n_columns, layout.dtype, layout.n_stored, maps)
        made._use(layout, self.parts, np.array([a for a, _ in self.bounds] + [self.n_rows]))
        if room_of(keep_bytes).take(made.n_values * (made.dtype.itemsize + 4 * made.is_sparse)):
            submit = self.client.submit
            made.parts = [
                submit(held_rows.features_held, layout, bounds, part, pure=False)
                for bounds, part in zip(made.bounds, made.parts)
            ]
            made.layout = Layout(layout.n_rows, int(n_columns), np.dtype(dtype).name, n_stored)
            made._make_actors()
        return made

    # --- the four operations -----------------------------------------------------------------------------------------

    def scores(self, coef, out=None):
        """Return <coef, x_i> of all rows."""
        out = np.empty(self.n_rows) if out is None else out
        for (begin, end), values in zip(self.bounds, self._pass(held_rows.scores_held, lambda own: (coef,))):
            out[begin:end] = values
        return out

    def combine(self, g):
        """Return sum_i g_i x_i."""
        total = np.zeros(self.n_columns)
        for sums in self._pass(held_rows.sums_held, lambda own: ([g[slice(*self.bounds[k])] for k in own],)):
            add_in_order(sums, total)
        return total

    def moments(self, rows, h, mask, means):
        """Return sum_i h_i (x_i - m)(x_i - m)' over some rows; see `RowBlocks`."""

        def of_parts(own):
            bounds = [self.bounds[k] for k in own]
            masks = [None if mask is None else mask[slice(*pair)] for pair in bounds]
            chosen = [rows[slice(*np.searchsorted(rows, pair))] for pair in bounds]
            return chosen, [h[slice(*pair)] for pair in bounds], masks, means

        total = np.zeros((self.n_columns, self.n_columns))
        for leaves in self._pass(held_rows.moments_held, of_parts):
            for sums in leaves:
                total += sums
        return total

    def rows(self, indices):
        """Return some rows; a map is applied here, so that products have the shapes of any number of workers."""
        if self._origin is not None:
            origin, function = self._origin
            return features_of_rows(function, origin.rows(indices), self.dtype, self.is_sparse)
        begins = np.array([a for a, _ in self.bounds])
        owner = np.searchsorted(begins, indices, side="right") - 1
        order = np.argsort(owner, kind="stable")

        def of_parts(own):
            return ([indices[owner == k] - begins[k] for k in own],)

        found = [rows for rows in self._pass(held_rows.rows_held, of_parts) if rows.shape[0]]
        taken = sparse.vstack(found, format="csr") if self.is_sparse else np.concatenate(found)
        place = np.empty(len(indices), dtype=np.intp)
        place[order] = np.arange(len(indices))
        return taken[place]

    def map(self, function):
        """Return ``function(X, start)`` of the rows of each group of chunks, computed where they lie, in a list."""
        parts = self._pass(held_rows.map_held, lambda own: (function,))
        return [result for results in parts for result in results]

    def where(self, row):
        """Return the name of the chunk that holds a row, and the index of the row in it."""
        k = int(np.searchsorted(self.chunk_starts, row, side="right")) - 1
        return f"partition {k}", int(row - self.chunk_starts[k])

    # --- a pass ------------------------------------------------------------------------------------------------------

    def _pass(self, function, arguments):
        """Return what `function` finds, for each part; ``arguments(own)`` are those for the parts `own` of a worker."""
        self.n_passes += 1
        sent = []

        def sent_to(own):
            sent.append(arguments(own))
            return (function, *sent[-1])

        found = [None] * len(self.parts)
        for own, values in self.actors.call("ask", sent_to):
            for k, value in zip(own, values):
                found[k] = value
        self.n_bytes_sent += n_bytes_of(sent)
        self.n_bytes_received += n_bytes_of(found)
        return found

    def _make_actors(self):
        # Not a bound method: the actors must not refer to this object, whose deletion releases the parts.
        self.actors = Actors(
            self.client, self.parts, held_rows.Holder, partial(_held, self.layout, self.bounds, self.parts)
        )


def _held(layout, bounds, parts, own):
    return layout, [bounds[k] for k in own], [parts[k] for k in own]


def layout_bytes(layout):
    """Return the bytes of the rows that are held."""
    itemsize = np.dtype(layout.dtype).itemsize
    return layout.n_rows * layout.n_columns * itemsize if layout.n_stored is None else layout.n_stored * (itemsize + 4)


def _edges(leaves, row_bytes, n_workers):
    """Return the bounds of partitions: whole leaves, and a few for each worker."""
    rows = min(PART_BYTES // row_bytes, -(-int(leaves[-1]) // (2 * n_workers)))
    edges = [0]
    while edges[-1] < leaves[-1]:
        k = int(np.searchsorted(leaves, edges[-1] + rows, side="right")) - 1
        edges.append(int(leaves[max(k, int(np.searchsorted(leaves, edges[-1])) + 1)]))
    return edges


def _without_empty(chunks, described):
    kept = [k for k, (shape, *_) in enumerate(described) if shape[0] > 0]
    if not kept:
        raise ValueError("the data hold no rows")
    return [chunks[k] for k in kept], [described[k] for k in kept]


def _checked_names(described):
    """Return the names of the columns, None without any; raise ValueError for partitions that differ."""
    shape, dtype, stored, _ = described[0]
    named = next((k for k, (*_, names) in enumerate(described) if names is not None), 0)
    names = described[named][3]
    if dtype.startswith("complex"):  # NumPy would drop the imaginary parts
        raise ValueError(f"partition 0 must hold real numbers, got dtype {dtype}")
    for k, (other, own_dtype, own_stored, own_names) in enumerate(described):
        if len(other) != 2 or other[1] != shape[1]:
            raise ValueError(
                f"partition {k} has shape {other}, partition 0 has {shape}: all must have the same columns"
            )
        if (own_stored is None) != (stored is None):
            raise ValueError(f"partition {k} and partition 0 differ: one holds sparse rows, the other dense ones")
        if own_dtype != dtype:
            raise ValueError(f"partition {k} has another dtype ({own_dtype}) than partition 0 ({dtype})")
        if own_names is not None and own_names != names:
            raise ValueError(f"partition {k} has other columns than partition {named}, or in another order")
    return names


def n_bytes_of(value):
    if isinstance(value, list | tuple):
        return sum(map(n_bytes_of, value))
    return getattr(value, "nbytes", 0)
