"""Dask collections: recognised without importing Dask, converted to chunks on workers, predicted lazily."""

from functools import partial
from operator import itemgetter
from pathlib import Path

import numpy as np
from scipy import sparse

from kernbench.distributed.cluster.workers import gathered_parts
from kernbench.distributed.sources import column_of, files_of, joined_labels, read_labels, read_whole


def is_collection(X):
    """Whether X is a Dask array, data frame, or list of delayed chunks or futures."""
    return hasattr(X, "__dask_graph__") or bool(isinstance(X, list | tuple) and X and _is_remote(X[0]))


def _is_remote(item):
    return hasattr(item, "__dask_graph__") or (hasattr(item, "key") and hasattr(item, "client"))


def chunks_of(client, X):
    """Return futures of the chunks of rows of X; columns of an array are put together first."""
    if getattr(X, "ndim", None) == 2 and hasattr(X, "rechunk"):
        if np.isnan(X.shape[0]):
            X = X.compute_chunk_sizes()
        X = X.rechunk({1: -1})
    elif hasattr(X, "rechunk"):
        raise ValueError(f"X must have two dimensions, got {X.ndim}: reshape it")
    parts = list(np.ravel(X.to_delayed())) if hasattr(X, "to_delayed") else list(X)
    return [client.compute(part) if hasattr(part, "__dask_graph__") else part for part in parts]


def chunks_of_files(client, folder, y, least_columns=0):
    """Return futures of the rows of each file with rows, which workers read, and the labels: y, or those in the files.

    Sparse rows are as wide as those of the widest file, or as `least_columns`.
    """
    label, folder = column_of(y), Path(folder).absolute()  # workers may run elsewhere
    read = {path: client.submit(read_whole, str(path), label, pure=False) for path in files_of(folder)}
    shapes = gathered_parts(client, [client.submit(_shape_of, pair, pure=False) for pair in read.values()])
    read = {path: pair for (path, pair), (n_rows, _) in zip(read.items(), shapes) if n_rows}
    if not read:
        raise ValueError("the data hold no rows")
    widest = max(least_columns, *(n_columns for n_rows, n_columns in shapes if n_rows))
    chunks = [client.submit(_rows_of, pair, widest, pure=False) for pair in read.values()]
    if y is not None and label is None:
        return chunks, y
    labels = gathered_parts(client, [client.submit(itemgetter(1), pair, pure=False) for pair in read.values()])
    return chunks, None if any(part is None for part in labels) else joined_labels(labels, read)


def _shape_of(pair):
    return pair[0].shape


def _rows_of(pair, n_columns):
    """Return the rows of a pair of rows and labels; sparse ones with `n_columns`."""
    return widened(pair[0], n_columns)


def widened(rows, n_columns):
    """Return rows; sparse ones with `n_columns`, of which the last may be empty."""
    if not sparse.issparse(rows):
        return rows
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], n_columns))


def gathered(client, y):
    """Return labels or weights as one array: of a Dask array, series or list of chunks, or as they are."""
    if hasattr(y, "__dask_graph__"):
        return read_labels(y.compute() if client is None else client.compute(y).result())
    if is_collection(y):
        parts = [read_labels(part) for part in gathered_parts(client, chunks_of(client, y))]
        return joined_labels(parts, [f"partition {k}" for k in range(len(parts))])
    return y


def predicted_lazily(X, predict, few):
    """Return the predictions for a Dask collection as a lazy array; type and shape are those of `few` predictions.

    How many rows the partitions of a data frame, or delayed chunks, hold is not known.
    """
    predict = partial(_predicted, predict, few[:0])
    if hasattr(X, "map_partitions"):
        found = X.map_partitions(predict, meta=few[:0])
        return found.to_dask_array() if hasattr(found, "to_dask_array") else found  # of later versions of Dask
    if not hasattr(X, "rechunk"):
        from dask import array, delayed

        parts = map(delayed(predict), X)
        shape = (np.nan, *few.shape[1:])
        return array.concatenate([array.from_delayed(part, shape, meta=few[:0]) for part in parts])
    X = X.rechunk({1: -1})
    if few.ndim == 1:
        return X.map_blocks(predict, dtype=few.dtype, drop_axis=1, meta=few[:0])
    return X.map_blocks(predict, dtype=few.dtype, chunks=(X.chunks[0], (few.shape[1],)), meta=few[:0])


def _predicted(predict, none, rows):
    """Return the predictions for a partition; `none` without rows, which estimators refuse."""
    return predict(rows) if rows.shape[0] else none
