"""Blocks of rows that this process reads: the sums of a `BlockDesign`, block after block, on several threads."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

from kernbench.kernels.threads import n_openmp_threads, openmp_threads
from kernbench.solvers.design._block_design import (
    add_in_order,
    add_moments,
    add_scores,
    add_sums,
    chunk_starts,
    leaf_starts,
)
from kernbench.solvers.design._design import FeatureDesign

# Bytes of rows held by a thread. Measured on 800 MB in the page cache: 2 MB are still in the processor's cache when
# they are multiplied, 8 MB and more take twice the time.
BLOCK_BYTES = 2 << 20


class LocalBlocks:
    """Base of the `RowBlocks` of one process.

    A subclass defines ``read(start, stop)``, which returns rows as an ndarray in C order or a canonical CSR matrix
    (valid until the same thread reads again), and calls `_set_shape`. All sums depend on the shape alone, not on the
    number of threads or on how the rows are stored.

    Attributes
    ----------
    n_rows, n_columns, n_values : int
    shape : tuple of int
    dtype : dtype
    is_sparse : bool
    is_remote : bool
        Whether other processes hold the rows.
    starts : ndarray of intp
        Bounds of the chunks of rows that sums are taken over.
    """

    is_remote = False

    def _set_shape(self, n_rows, n_columns, dtype, *, n_stored=None):
        """Fix shape and storage; `n_stored` entries if the rows are sparse."""
        if n_columns == 0:
            raise ValueError("the data hold no columns beside labels")
        self.n_rows, self.n_columns, self.dtype = int(n_rows), int(n_columns), np.dtype(dtype)
        self.shape, self.is_sparse = (self.n_rows, self.n_columns), n_stored is not None
        self.n_values = self.n_rows * self.n_columns if n_stored is None else int(n_stored)
        self.starts = chunk_starts(self.n_rows, self.n_columns)
        self.leaves = leaf_starts(self.n_rows, self.n_columns)
        entry = self.dtype.itemsize + 4 * self.is_sparse
        self.rows_at_once = max(4, BLOCK_BYTES * self.n_rows // (entry * max(1, self.n_values)) // 4 * 4)
        self.groups = _groups(self.starts, self.leaves, self.rows_at_once)
        self.group_starts = self.starts[[first for first, _ in self.groups]]

    # --- the four operations -----------------------------------------------------------------------------------------

    def scores(self, coef: Any, out: Any = None) -> Any:
        """Return <coef, x_i> of all rows."""
        out = np.empty(self.n_rows) if out is None else out
        for _ in self.in_threads(lambda first, last: self.part_scores(first, last, coef, out), self.groups):
            pass
        return out

    def combine(self, g: Any) -> Any:
        """Return sum_i g_i x_i."""
        total = np.zeros(self.n_columns)
        for sums in self.in_threads(lambda first, last: self.part_sums(first, last, g), self.groups):
            add_in_order(sums, total)
        return total

    def moments(self, rows: Any, h: Any, mask: Any, means: Any) -> Any:
        """Return sum_i h_i (x_i - m)(x_i - m)' over some rows; see `RowBlocks`."""
        total = np.zeros((self.n_columns, self.n_columns))
        leaves = zip(self.leaves[:-1], self.leaves[1:])
        for sums in self.in_threads(lambda *leaf: self.part_moments(*leaf, rows, h, mask, means), leaves):
            total += sums
        return total

    def rows(self, indices: Any) -> Any:
        """Return some rows."""
        order = np.argsort(indices, kind="stable")
        taken, place = [], 0
        for first, last in self.groups:
            for start, stop in self.reads(first, last):
                end = place + int(np.searchsorted(indices[order[place:]], stop))
                if end > place:
                    taken.append(self.read(start, stop)[indices[order[place:end]] - start])
                    place = end
        found = sparse.vstack(taken, format="csr") if self.is_sparse else np.concatenate(taken)
        out = np.empty(len(indices), dtype=np.intp)
        out[order] = np.arange(len(indices))
        return found[out]

    # --- parts of them, for a range of chunks ------------------------------------------------------------------------

    def part_scores(self, first: Any, last: Any, coef: Any, out: Any, offset: int = 0) -> None:
        """Write the scores of chunks first to last - 1 to their place in `out`; out[0] is that of row `offset`."""
        for start, stop in self.reads(first, last):
            add_scores(FeatureDesign(self.read(start, stop)), coef, out[start - offset : stop - offset])

    def part_sums(self, first: Any, last: Any, g: Any, offset: int = 0) -> Any:
        """Return the sum of each of the chunks first to last - 1; g[0] is the slope of row `offset`."""
        sums = np.zeros((last - first, self.n_columns))
        for start, stop in self.reads(first, last):
            bounds = np.clip(self.starts[first : last + 1], start, stop) - start
            add_sums(FeatureDesign(self.read(start, stop)), g[start - offset : stop - offset], bounds, sums)
        return sums

    def part_moments(self, begin: Any, end: Any, rows: Any, h: Any, mask: Any, means: Any, offset: int = 0) -> Any:
        """Return the moments of one leaf, rows begin to end - 1; h[0] is the weight of row `offset`.

        Products are taken within each chunk, so that they do not depend on the rows read at once.
        """
        sums = np.zeros((self.n_columns, self.n_columns))
        for group in self.groups_in(begin, end):
            for start, stop in self.reads(*group):
                edges = np.clip(self.starts[group[0] : group[1] + 1], start, stop)
                places = np.searchsorted(rows, edges)
                if places[-1] == places[0]:
                    continue
                part, here = FeatureDesign(self.read(start, stop)), slice(start - offset, stop - offset)
                classes = None if mask is None else mask[here]
                for k, l in zip(places[:-1], places[1:]):
                    add_moments(part, rows[k:l] - start, h[here], classes, means, sums)
        return sums

    def parts(self) -> Any:
        """Yield all rows, an array or CSR matrix for a few chunks at a time."""
        for group in self.groups:
            for start, stop in self.reads(*group):
                yield self.read(start, stop).copy()

    def map(self, function: Any, groups: Any = None) -> Any:
        """Return ``function(X, start)`` of the rows of each group of chunks, X from row `start` on, in a list."""

        def of_group(first, last):
            return [function(self.read(start, stop), start) for start, stop in self.reads(first, last)]

        groups = self.groups if groups is None else groups
        return [result for results in self.in_threads(of_group, groups) for result in results]

    def groups_in(self, begin: Any, end: Any) -> Any:
        """Return the groups of the chunks in rows begin to end - 1, which are whole leaves."""
        return self.groups[slice(*np.searchsorted(self.group_starts, (begin, end)))]

    def reads(self, first: Any, last: Any) -> Any:
        """Yield the bounds of what is read at once for chunks first to last - 1."""
        begin, end = int(self.starts[first]), int(self.starts[last])
        step = end - begin if last - first > 1 else self.rows_at_once
        for start in range(begin, end, step):
            yield start, min(start + step, end)

    def in_threads(self, function: Any, tasks: Any) -> Any:
        """Yield ``function(*task)`` for each of the tasks, in their order, while the next ones are computed."""
        tasks = list(tasks)
        n_threads = min(n_openmp_threads(), len(tasks))
        pool = ThreadPoolExecutor(n_threads, initializer=openmp_threads, initargs=(1,))
        try:
            waiting = [pool.submit(function, *task) for task in tasks[: 2 * n_threads]]
            for k in range(len(tasks)):
                result = waiting[k].result()
                waiting[k] = None
                if len(waiting) < len(tasks):
                    waiting.append(pool.submit(function, *tasks[len(waiting)]))
                yield result
        finally:
            pool.shutdown(cancel_futures=True)


def _groups(starts, leaves, rows_at_once):
    """Return pairs (first, last): chunks first to last - 1 are in one leaf; they have at most `rows_at_once` rows
    together, or are one chunk."""
    groups, first, n_chunks = [], 0, len(starts) - 1
    while first < n_chunks:
        most = min(starts[first] + rows_at_once, leaves[np.searchsorted(leaves, starts[first], side="right")])
        last = max(first + 1, int(np.searchsorted(starts, most, side="right")) - 1)
        groups.append((first, last))
        first = last
    return groups
