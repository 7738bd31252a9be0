"""Rows on the workers of a Dask cluster: a pass is one task for each worker."""

from importlib import import_module

import numpy as np
from scipy import sparse

from kernbench._version import __version__
from kernbench.distributed import held_rows
from kernbench.distributed.held_rows import Layout
from kernbench.distributed.mapped_blocks import features_of_rows
from kernbench.solvers.design._block_design import add_in_order

PART_BYTES = 64 << 20  # of rows in one partition, if a leaf is not larger
TRIES = 4  # of a pass; workers may be lost in between


class DaskBlocks:
    """Rows held by workers; see `RowBlocks`.

    Whatever partitions they come in, rows are cut at leaves (see `leaf_starts`), columns are kept together. Sums come
    back chunk by chunk and are added in order, so that no bit depends on the workers. Partitions of a lost worker are
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
        check_workers(client)
        self._settle_counts()
        described = self._gather(client.map(held_rows.describe, chunks, pure=False))
        chunks, described = _without_empty(chunks, described)
        _check_alike(described)
        sizes = [shape[0] for shape, *_ in described]
        dtype = described[0][1] if described[0][1] in ("float32", "float64") else "float64"
        stored = None if described[0][2] is None else sum(n for _, _, n, _ in described)
        self._origin = None
        self.names, self.chunk_starts = described[0][3], np.concatenate([[0], np.cumsum(sizes)])
        self._use(
            Layout(int(self.chunk_starts[-1]), described[0][0][1], dtype, stored), chunks, self.chunk_starts
        )

    def _settle_counts(self):
        self.n_passes = self.n_bytes_sent = self.n_bytes_received = 0

    def _use(self, layout, parts, starts):
        """Cut parts, of which part k begins at row starts[k], at the leaves of what `layout` describes."""
        shape = layout.blocks()
        self.layout, self.starts, self.leaves = layout, shape.starts, shape.leaves
        self.n_rows, self.n_columns, self.n_values = shape.n_rows, shape.n_columns, shape.n_values
        self.shape, self.dtype, self.is_sparse = shape.shape, shape.dtype, shape.is_sparse
        edges = _edges(
            self.leaves, max(1, layout_bytes(layout) // max(1, self.n_rows)), len(_workers(self.client))
        )
        self.bounds = [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:])]
        self.parts = []
        for begin, end in self.bounds:
            first, last = np.searchsorted(starts, (begin, end), side="right") - (1, 0)
            last = min(last, int(np.searchsorted(starts, end)))
            pieces = [
                (max(begin, starts[k]) - starts[k], min(end, starts[k + 1]) - starts[k])
                for k in range(first, last)
            ]
            pieces = [(int(a), int(b)) for a, b in pieces]
            self.parts.append(
                self.client.submit(held_rows.cut, parts[first:last], pieces, layout.dtype, pure=False)
            )
        self._placed_on, self._places = None, {}

    def mapped(self, function, n_columns, dtype, *, n_stored=None, keep_bytes=0):
        """Return the features of the rows, which the workers keep if `keep_bytes` do for them."""
        made = object.__new__(DaskBlocks)
        made.client, made.names, made.chunk_starts = self.client, None, self.chunk_starts
        made._origin = self, function
        made._settle_counts()
        layout = self.layout
        maps = (*layout.maps, (function, n_columns, np.dtype(dtype).name, n_stored))
        layout = Layout(layout.n_rows, layout.n_columns, layout.dtype, layout.n_stored, maps)
        made._use(layout, self.parts, np.array([a for a, _ in self.bounds] + [self.n_rows]))
        if made.n_values * made.dtype.itemsize <= keep_bytes:
            submit = self.client.submit
            made.parts = [
                submit(held_rows.features_held, layout, bounds, part, pure=False)
                for bounds, part in zip(made.bounds, made.parts)
            ]
            made.layout = Layout(layout.n_rows, int(n_columns), np.dtype(dtype).name, n_stored)
        return made

    # --- the four questions ------------------------------------------------------------------------------------------

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
        for trial in range(TRIES):
            shares = self._shares()
            tasks = []
            try:
                for worker, own in shares:
                    sent = arguments(own)
                    self.n_bytes_sent += _n_bytes(sent)
                    if _n_bytes(sent) > 1 << 16:  # past the scheduler
                        sent = [self.client.scatter(sent, workers=[worker], hash=False, direct=True)]
                        call = _with_scattered
                    else:
                        call = _with_arguments
                    bounds, parts = [self.bounds[k] for k in own], [self.parts[k] for k in own]
                    tasks.append(self.client.submit(
                        call, function, self.layout, bounds, parts, *sent,
                        workers=[worker], allow_other_workers=True, pure=False,
                    ))  # fmt: skip
                results = self._gather(tasks)
                break
            except _lost() as error:
                self._placed_on = None
                if trial == TRIES - 1:
                    raise RuntimeError(
                        f"workers were lost in {TRIES} tries of a pass over the rows: {error}"
                    ) from error
            except BaseException:
                self.client.cancel(tasks)
                raise
        found = [None] * len(self.parts)
        for (_, own), result in zip(shares, results):
            for k, value in zip(own, result):
                found[k] = value
        self.n_bytes_received += _n_bytes(found)
        return found

    def _shares(self):
        """Return pairs of a worker and the parts it holds, each part once."""
        workers = _workers(self.client)
        if self._placed_on != workers:
            from distributed import wait

            wait(self.parts)
            holders = self.client.who_has(self.parts)
            places = {}
            for k, part in enumerate(self.parts):
                held_by = sorted(holders.get(part.key, ())) or sorted(workers)
                places.setdefault(min(held_by, key=lambda worker: len(places.get(worker, ()))), []).append(k)
            self._placed_on, self._places = workers, places
        return list(self._places.items())

    def _gather(self, futures):
        return self.client.gather(futures, direct=True)


def _with_arguments(function, layout, bounds, parts, *arguments):
    return function(layout, bounds, parts, *arguments)


def _with_scattered(function, layout, bounds, parts, arguments):
    return function(layout, bounds, parts, *arguments)


def check_workers(client):
    """Raise ValueError unless there are workers, and all have this version of kernbench.

    Its modules are imported in the threads of tasks: in a worker's event loop that may take longer than connections
    last.
    """
    workers = sorted(_workers(client))
    if not workers:
        raise ValueError("the scheduler has no workers: start some with `dask worker ADDRESS`")
    found = []
    for worker in workers:
        module = client.submit(import_module, "kernbench._version", workers=[worker], pure=False)
        found.append(client.submit(getattr, module, "__version__", workers=[worker], pure=False))
    for worker, version in zip(workers, found):
        if version.exception() is not None:
            raise ValueError(
                f"worker {worker} cannot import kernbench ({version.exception()}): install it on all workers"
            )
        if version.result() != __version__:
            raise ValueError(
                f"worker {worker} has kernbench {version.result()}, this process has {__version__}: install the same"
            )
    from distributed import wait

    wait([
        client.submit(import_module, held_rows.__name__, workers=[worker], pure=False) for worker in workers
    ])  # fmt: skip


def layout_bytes(layout):
    """Return the bytes of the rows that are held."""
    itemsize = np.dtype(layout.dtype).itemsize
    return (
        layout.n_rows * layout.n_columns * itemsize
        if layout.n_stored is None
        else layout.n_stored * (itemsize + 4)
    )


def _edges(leaves, row_bytes, n_workers):
    """Return the bounds of partitions: whole leaves, and a few for each worker."""
    rows = min(PART_BYTES // row_bytes, -(-int(leaves[-1]) // (2 * n_workers)))
    edges = [0]
    while edges[-1] < leaves[-1]:
        k = int(np.searchsorted(leaves, edges[-1] + rows, side="right")) - 1
        edges.append(int(leaves[max(k, int(np.searchsorted(leaves, edges[-1])) + 1)]))
    return edges


def free_bytes(client):
    """Return the memory that the workers have left."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(max(0, w["memory_limit"] - w["metrics"].get("memory", 0)) for w in workers)


def _workers(client):
    return frozenset(client.scheduler_info(n_workers=-1)["workers"])


def _lost():
    from distributed.client import FutureCancelledError
    from distributed.scheduler import KilledWorker

    return FutureCancelledError, KilledWorker, OSError


def _without_empty(chunks, described):
    kept = [k for k, (shape, *_) in enumerate(described) if shape[0] > 0]
    if not kept:
        raise ValueError("the data hold no rows")
    return [chunks[k] for k in kept], [described[k] for k in kept]


def _check_alike(described):
    shape, dtype, stored, names = described[0]
    for k, (other, *kind) in enumerate(described):
        if len(other) != 2 or other[1] != shape[1]:
            raise ValueError(
                f"partition {k} has shape {other}, partition 0 has {shape}: all must have the same columns"
            )
        if kind != [dtype, kind[1], names] or (kind[1] is None) != (stored is None):
            raise ValueError(
                f"partition {k} has other columns or another dtype ({kind[0]}) than partition 0 ({dtype})"
            )


def _n_bytes(value):
    if isinstance(value, list | tuple):
        return sum(map(_n_bytes, value))
    return getattr(value, "nbytes", 0)
