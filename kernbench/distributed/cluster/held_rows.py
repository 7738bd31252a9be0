"""Functions that run on a worker: its share of a pass over the rows."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernbench.distributed.blocks.local_blocks import LocalBlocks
from kernbench.distributed.blocks.mapped_blocks import MappedBlocks
from kernbench.distributed.cluster.actors import Actor
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.arrays import check_indices
from kernbench.validation.foreign import column_names, dense_array, host_array, without_sparse_columns

CHUNK = "a chunk of X"  # in messages


@dataclass(frozen=True)
class Layout:
    """Shape and storage of all rows, and the maps between what is held and the features.

    Attributes
    ----------
    n_rows, n_columns : int
    dtype : str
    n_stored : int or None
        Entries, of sparse rows.
    maps : tuple of (function, n_columns, dtype, n_stored)
        Arguments of `MappedBlocks`, one after the other.
    """

    n_rows: int
    n_columns: int
    dtype: str
    n_stored: int | None = None
    maps: tuple = ()

    def blocks(self, bounds=(), parts=(), check=None):
        """Return the features, where the rows bounds[k] = (start, stop) are ``parts[k]``; see `HeldRows`."""
        blocks = HeldRows(self, bounds, parts, check)
        for function, n_columns, dtype, n_stored in self.maps:
            blocks = MappedBlocks(blocks, function, n_columns, dtype, n_stored=n_stored)
        return blocks


class HeldRows(LocalBlocks):
    """Some of the rows, in memory; ``check()`` is called before each read, and may raise to end a pass."""

    def __init__(self, layout, bounds, parts, check=None):
        self.bounds, self.parts, self.check = bounds, parts, check
        self._set_shape(layout.n_rows, layout.n_columns, layout.dtype, n_stored=layout.n_stored)

    def read(self, start, stop):
        """Return rows start to stop - 1, which are in one part."""
        if self.check is not None:
            self.check()
        for (begin, end), part in zip(self.bounds, self.parts):
            if begin <= start and stop <= end:
                return part[start - begin : stop - begin]
        raise ValueError(f"rows {start} to {stop - 1} are not held in one part")


class Holder(Actor):
    """The rows that a worker holds, and functions of them.

    Parameters
    ----------
    layout : Layout
    bounds : list of (int, int)
    parts : list of ndarray or CSR matrix
        Rows bounds[k][0] to bounds[k][1] - 1.
    """

    def __init__(self, layout, bounds, parts):
        self.bounds, self.parts, self.blocks = bounds, parts, layout.blocks(bounds, parts, self.check)

    def ask(self, function, *arguments):
        """Return the results of a function of this module, one for each part."""
        with single_threaded_blas():
            return function(self, *arguments)


def cut(parts, bounds, dtype):
    """Return rows bounds[k] = (start, stop) of each part together, an array in C order or a canonical CSR matrix."""
    parts = [part.tocsr() if sparse.issparse(part) else host_array(part, CHUNK) for part in parts]  # these have slices
    taken = [_between(part, a, b) for part, (a, b) in zip(parts, bounds)]
    taken = [without_sparse_columns(part) for part in taken]
    if sparse.issparse(taken[0]):
        rows = sparse.vstack(taken, format="csr", dtype=dtype)
        rows.sum_duplicates()
        return rows
    taken = [dense_array(part) for part in taken]
    return np.ascontiguousarray(taken[0] if len(taken) == 1 else np.concatenate(taken), dtype=dtype)


def scores_held(held, coef):
    """Return the scores of the parts, one after the other."""
    blocks, found = held.blocks, []
    for begin, end in held.bounds:
        out = np.empty(end - begin)

        def write(first, last, out=out, begin=begin):
            blocks.part_scores(first, last, coef, out, begin)

        for _ in blocks.in_threads(write, blocks.groups_in(begin, end)):
            pass
        found.append(out)
    return found


def sums_held(held, slopes):
    """Return the sums of each chunk of the parts; slopes[k] are those of part k."""
    blocks, found = held.blocks, []
    for (begin, end), g in zip(held.bounds, slopes):

        def add(first, last, g=g, begin=begin):
            return blocks.part_sums(first, last, g, begin)

        found.append(np.concatenate(list(blocks.in_threads(add, blocks.groups_in(begin, end)))))
    return found


def moments_held(held, rows, weights, masks, means):
    """Return the moments of each leaf of the parts; rows[k] are indices among all rows, weights[k] those of part k."""
    blocks, found = held.blocks, []
    for k, (begin, end) in enumerate(held.bounds):
        leaves = blocks.leaves[slice(*(np.searchsorted(blocks.leaves, (begin, end)) + (0, 1)))]

        def add(first, last, k=k, begin=begin):
            return blocks.part_moments(first, last, rows[k], weights[k], masks[k], means, begin)

        found.append(list(blocks.in_threads(add, zip(leaves[:-1], leaves[1:]))))
    return found


def rows_held(held, indices):
    """Return rows ``indices[k]`` of part k, for each part."""
    return [part[own] for part, own in zip(held.parts, indices)]


def map_held(held, function):
    """Return ``function(X, start)`` of the groups of chunks of each part."""
    blocks = held.blocks
    return [blocks.map(function, blocks.groups_in(begin, end)) for begin, end in held.bounds]


def features_held(layout, bounds, part):
    """Return the features of one part, as passes compute them."""
    held = Holder(layout, [bounds], [part])
    (parts,) = held.ask(map_held, _itself)
    return sparse.vstack(parts, format="csr") if held.blocks.is_sparse else np.concatenate(parts)


def _itself(X, start):
    return X


def describe(part):
    """Return shape, dtype, stored entries (None if dense) and column names of a chunk; raise ValueError for masked
    entries and, of sparse rows, for indices out of bounds.

    The dtype is that of the rows as they are held: float32 and float64 are kept, complex numbers are named, to be
    rejected, and everything else becomes float64.
    """
    part = host_array(part, CHUNK)
    check_indices(part)
    if not hasattr(part, "shape") or len(part.shape) != 2:
        part = np.atleast_1d(np.asarray(part))
        return part.shape, _held_type(part.dtype), None, None
    names, part = column_names(part), without_sparse_columns(part)
    # The type of a table is that of `dense_array`, as in one process; rows do not change it. pyarrow has no `dtypes`.
    is_table = hasattr(part, "dtypes") or not hasattr(part, "dtype")
    dtype = dense_array(_between(part, 0, 0)).dtype if is_table else part.dtype
    names = None if names is None else list(names)
    return part.shape, _held_type(dtype), part.nnz if sparse.issparse(part) else None, names


def _between(part, start, stop):
    """Return rows start to stop - 1 of an array, a CSR matrix or a table."""
    return part.iloc[start:stop] if hasattr(part, "iloc") else part[start:stop]


def _held_type(dtype):
    return str(dtype) if dtype in (np.float32, np.float64) or dtype.kind == "c" else "float64"
