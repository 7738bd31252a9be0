"""Convert the data given to `Distributed` to blocks: rows, labels, weights, a second sample."""

from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.utils.validation import column_or_1d

from kernbench.distributed.blocks.file_blocks import FileBlocks
from kernbench.distributed.cluster.collections import chunks_of, chunks_of_files, gathered, is_collection, widened
from kernbench.distributed.cluster.dask_blocks import DaskBlocks
from kernbench.distributed.cluster.held_rows import describe
from kernbench.distributed.cluster.workers import gathered_parts
from kernbench.distributed.sources import column_of, read_labels

NO_LABELS = "there are no labels: give y, an array, a .npy file or the name of a column"


def read(client, X, y, learns_from, least_columns=0):
    """Return the rows as blocks, and their labels.

    Parameters
    ----------
    client : distributed.Client or None
    X, y
        As for `Distributed.fit`.
    learns_from : {"labels", "rows", "samples"}
        What the estimator is fitted to. For ``"rows"`` the labels are None; for ``"samples"`` X and y are both rows,
        labelled 1 and -1 here.
    least_columns : int, default=0
        Columns of files of sparse rows.
    """
    if learns_from == "samples":
        return _read_samples(client, X, y)
    blocks, y = _read_files(X, y, least_columns) if client is None else _read_chunks(client, X, y, least_columns)
    if learns_from == "rows":
        return blocks, None
    if y is None:
        raise ValueError(NO_LABELS)
    y = column_or_1d(y, warn=True)
    _check_length("y", y, blocks)
    return blocks, y


def read_weights(client, sample_weight, blocks):
    """Return the weights of rows, None without any."""
    if sample_weight is None:
        return None
    sample_weight = read_labels(gathered(client, sample_weight))
    if sample_weight.ndim == 0:  # of all rows
        sample_weight = np.full(blocks.n_rows, sample_weight)
    _check_length("sample_weight", sample_weight, blocks)
    return sample_weight


def _read_files(X, y, least_columns=0):
    if is_collection(X):
        raise ValueError("X is a Dask collection: give the client of its cluster, Distributed(estimator, client)")
    label = column_of(y)
    blocks = FileBlocks(X, label=label, least_columns=least_columns)
    return blocks, blocks.y if y is None or label is not None else read_labels(y)


def _read_chunks(client, X, y, least_columns):
    if isinstance(X, str | Path):
        chunks, y = chunks_of_files(client, X, y, least_columns)
        return DaskBlocks(client, chunks), None if y is None else read_labels(y)
    _check_collection(X)
    if (label := column_of(y)) is not None:
        raise ValueError(
            f"the labels {label!r} are not a file, and a collection has no column of labels: give them apart from the "
            "rows, such as X[features] and X[label] of a data frame"
        )
    return DaskBlocks(client, chunks_of(client, X)), None if y is None else read_labels(gathered(client, y))


def _read_samples(client, P, Q):
    """Return the rows of two samples, those of P first, and 1 and -1."""
    if P is None or Q is None:
        raise ValueError("there is one sample: give two, fit(P, Q)")
    if client is None:
        sizes = [_read_files(sample, None)[0].n_rows for sample in (P, Q)]
        blocks = FileBlocks([*_as_list(P), *_as_list(Q)])
    else:
        chunks = [_chunks_of_sample(client, sample) for sample in (P, Q)]
        described = [gathered_parts(client, client.map(describe, part, pure=False)) for part in chunks]
        sizes = [sum(shape[0] for shape, *_ in part) for part in described]
        if min(sizes) == 0:
            raise ValueError("the data hold no rows")
        blocks = DaskBlocks(client, _of_one_width(client, (P, Q), chunks, described))
    return blocks, np.repeat([1.0, -1.0], sizes)


def _chunks_of_sample(client, sample):
    if isinstance(sample, str | Path):
        return chunks_of_files(client, sample, None)[0]
    _check_collection(sample)
    return chunks_of(client, sample)


def _of_one_width(client, samples, chunks, described):
    """Return the chunks of all samples; sparse rows of files are as wide as the widest, as `open_sources` has them."""
    widths = [shape[1] for shape, _, n_stored, _ in chain(*described) if n_stored is not None and shape[0]]
    found = []
    for sample, parts in zip(samples, chunks):
        if widths and isinstance(sample, str | Path):
            parts = [client.submit(widened, rows, max(widths), pure=False) for rows in parts]
        found.extend(parts)
    return found


def _check_collection(X):
    if not is_collection(X):
        raise ValueError(
            "with a client X must be a Dask array, a Dask data frame, a list of delayed chunks or a folder, "
            f"got {type(X).__name__}: use dask.array.from_array(X, chunks=...), or leave client out"
        )


def _as_list(data):
    return data if isinstance(data, list | tuple) else [data]


def _check_length(name, values, blocks):
    if len(values) != blocks.n_rows:
        raise ValueError(f"{name} has {len(values)} entries and X has {blocks.n_rows} rows: they must be as many")
