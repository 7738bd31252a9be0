"""A data file of the user's own as a data set, with labels as the solvers take them and a test part drawn from it."""

from functools import partial
from pathlib import Path

import numpy as np

from kernbench.datasets.base import Dataset, array_checksum
from kernbench.datasets.readers.detect import read_file
from kernbench.datasets.splits import random_indices, split_indices, stratified_indices
from kernbench.validation.numbers import check_number

TEST_SHARE = 0.25


def load_own(path: str | Path, split_seed: int = 0) -> Dataset:
    """Load a data file; a quarter of its rows, drawn by a seed, stratified by class, is the test part.

    Each class has a row in both parts; the test part of a file with rare classes may be larger for it.
    Two classes become -1 and +1, in the order of the labels; more become 0, 1, …; labels that are not whole numbers
    are the targets of a regression.

    Parameters
    ----------
    path : str or Path
        In any format of `read_file`.
    split_seed : int, default=0

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the file is malformed, of one class, or has fewer than eight rows or two rows of a class.
    FileNotFoundError
    """
    check_number("split_seed", split_seed, at_least=0, whole=True)
    path = Path(path)
    X, labels = read_file(path)
    y, task, words = _coded(labels, path)
    n = len(y)
    if n < 8:
        raise ValueError(f"{path}: {n} rows are too few to train and test with; 8 are the least")
    draw = random_indices if task == "regression" else partial(stratified_indices, left=1)
    train, test = split_indices(y, n - round(TEST_SHARE * n), split_seed, draw)
    parts = X[train], y[train], X[test], y[test]
    return Dataset(
        name=path.name,
        X_train=parts[0],
        y_train=parts[1],
        X_test=parts[2],
        y_test=parts[3],
        kind="own",
        description=f"The file {path.name}: {words}{len(train):,} training and {len(test):,} test examples, split with "
        f"seed {split_seed}.",
        source=str(path),
        checksum=array_checksum(*parts),
        task=task,
    )


def _coded(labels, path):
    """Return labels as solvers take them, the task, and a few words on the classes."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f" and not np.array_equal(labels, np.round(labels)):
        return labels.astype(np.float64), "regression", ""
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"{path}: all rows are of one class, {classes[0]!s}")
    if counts.min() < 2:
        raise ValueError(f"{path}: class {classes[counts.argmin()]!s} has one row; two are the least")
    if len(classes) == 2:
        return 2 * codes.astype(np.int64) - 1, "binary", f"class {classes[1]!s} against {classes[0]!s}; "
    return codes.astype(np.int64), "multi-class", f"{len(classes)} classes; "
