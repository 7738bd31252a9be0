"""Tables, labels, splits and scales: what builders of real sets share."""

import numpy as np

from kernbench.datasets.checks import require_number
from kernbench.datasets.packed import open_text
from kernbench.datasets.splits import split_indices, stratified_indices


def read_numbers(path, **layout):
    """A table of numbers without faults, since its checksum has been compared; `layout` is `loadtxt`'s."""
    with open_text(path) as file:
        return np.loadtxt(file, comments=None, **layout)


def signs(positive):
    """Labels +1 where `positive` holds and -1 elsewhere, int64."""
    return np.where(positive, 1, -1).astype(np.int64)


def split(X, y, n_train, split_seed, draw=stratified_indices):
    """Draw `n_train` rows to train with; the rest tests.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    y : ndarray of shape (n,)
    n_train : int
    split_seed : int
    draw : callable
        How rows are drawn: `stratified_indices` by default, or `random_indices`.

    Returns
    -------
    X_train, y_train, X_test, y_test
        Rows in the order of the file.
    """
    require_number("split_seed", split_seed, at_least=0, whole=True)
    train, test = split_indices(y, n_train, split_seed, draw)
    return X[train], y[train], X[test], y[test]


def split_by_fraction(X, y, test_fraction, split_seed, draw=stratified_indices):
    """As `split`; `test_fraction` of the rows, to the nearest whole number, tests.

    A fraction of two whole numbers asks for exact sizes: ``test_fraction=69/569`` sets 69 of 569 rows aside.
    """
    require_number("test_fraction", test_fraction, at_least=0.001, below=1)
    n_test = max(1, round(test_fraction * len(y)))
    if len(y) - n_test < 2:
        raise ValueError(
            f"test_fraction={test_fraction!r} leaves fewer than 2 of {len(y)} rows to train with"
        )
    return split(X, y, len(y) - n_test, split_seed, draw)


def standardised(parts, standardise):
    """Bring the columns of both parts to mean 0 and variance 1 over the training part, in place.

    Parameters
    ----------
    parts : tuple
        ``(X_train, y_train, X_test, y_test)``, dense.
    standardise : bool
        False leaves everything as it is. Constant columns become 0.
    """
    if not isinstance(standardise, bool):
        raise ValueError(f"standardise must be True or False, got {standardise!r}")
    X_train, _, X_test, _ = parts
    if standardise:
        mean = X_train.mean(axis=0, dtype=np.float64)
        deviation = X_train.std(axis=0, dtype=np.float64)
        deviation[deviation == 0] = 1.0
        for part in (X_train, X_test):
            part -= mean.astype(part.dtype)
            part /= deviation.astype(part.dtype)
    return parts
