"""Reading, labels, splits and standardisation for the builders of published sets."""

import functools
import inspect

import numpy as np

from kernbench.datasets.readers.compressed import open_text
from kernbench.datasets.splits import split_indices, stratified_indices
from kernbench.validation.numbers import check_number


def read_numbers(path, **layout):
    """Read a table whose checksum is verified, with the arguments of `numpy.loadtxt`."""
    with open_text(path) as file:
        return np.loadtxt(file, comments=None, **layout)


def signs(positive):
    """Return labels +1 where `positive` holds and -1 elsewhere, int64."""
    return np.where(positive, 1, -1).astype(np.int64)


def split_by_seed(*, test_fraction=0.3, scaled=True, draw=stratified_indices):
    """Turn ``read(paths, **options) -> (X, y)`` into a builder of a set published without a test part.

    Parameters
    ----------
    test_fraction : float, default=0.3
        Default of the builder's option.
    scaled : bool, default=True
        Whether the builder has the option `standardise`.
    draw : callable
        `stratified_indices`, or `random_indices` for the targets of a regression.

    Returns
    -------
    callable
        The decorator. To the options of `read` the builder adds

        * ``standardise=True``: scale each column to mean 0 and variance 1 over the training part;
        * ``test_fraction``: share of the rows in the test part, to the nearest whole number; a quotient of whole
          numbers, such as ``69/569``, gives exact sizes;
        * ``split_seed=0``: draws the test part.
    """
    added = {"standardise": True} if scaled else {}
    added |= {"test_fraction": test_fraction, "split_seed": 0}

    def decorate(read):
        @functools.wraps(read)
        def build(paths, **options):
            settings = {name: options.pop(name, default) for name, default in added.items()}
            X, y = read(paths, **options)
            fraction = settings["test_fraction"]
            check_number("test_fraction", fraction, at_least=0.001, below=1)
            n_train = len(y) - max(1, round(fraction * len(y)))
            if n_train < 2:
                raise ValueError(f"test_fraction={fraction!r} leaves fewer than 2 of {len(y)} rows for training")
            return standardised(split(X, y, n_train, settings["split_seed"], draw), settings.get("standardise", False))

        signature = inspect.signature(read)
        keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=added[name]) for name in added]
        build.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *keywords])
        return build

    return decorate


def split(X, y, n_train, split_seed, draw=stratified_indices):
    """Draw `n_train` rows for training; the rest is the test part.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    y : ndarray of shape (n,)
    n_train : int
    split_seed : int
    draw : callable
        `stratified_indices`, or `random_indices` for the targets of a regression.

    Returns
    -------
    X_train, y_train, X_test, y_test
        Rows in the order of the file.
    """
    check_number("split_seed", split_seed, at_least=0, whole=True)
    train, test = split_indices(y, n_train, split_seed, draw)
    return X[train], y[train], X[test], y[test]


def standardised(parts, standardise):
    """Scale the columns of both parts, in place, to mean 0 and variance 1 over the training part.

    Parameters
    ----------
    parts : tuple
        ``(X_train, y_train, X_test, y_test)``, dense.
    standardise : bool
        False leaves `parts` unchanged. Constant columns become 0.
    """
    if not isinstance(standardise, bool):
        raise ValueError(f"standardise must be True or False, got {standardise!r}")
    X_train, _, X_test, _ = parts
    if standardise:
        mean = X_train.mean(axis=0, dtype=np.float64)
        deviation = X_train.std(axis=0, dtype=np.float64)
        constant = X_train.max(axis=0) == X_train.min(axis=0)  # whatever rounding leaves of their deviation
        mean[constant], deviation[constant] = X_train[0, constant], 1.0
        for part in (X_train, X_test):
            part -= mean.astype(part.dtype)
            part /= deviation.astype(part.dtype)
    return parts
