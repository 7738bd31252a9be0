"""Labels, splits and scales: what builders of real sets share."""

import numpy as np

from kernbench.datasets.checks import require_number
from kernbench.datasets.splits import stratified_split


def signs(positive):
    """Labels +1 where `positive` holds and -1 elsewhere, int64."""
    return np.where(positive, 1, -1).astype(np.int64)


def split(X, y, n_train, split_seed):
    """Draw a stratified training part of `n_train` rows; the rest tests.

    Returns
    -------
    X_train, y_train, X_test, y_test
        Rows in the order of the file.
    """
    require_number("split_seed", split_seed, at_least=0, whole=True)
    train, test = stratified_split(y, n_train, split_seed)
    return X[train], y[train], X[test], y[test]


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
