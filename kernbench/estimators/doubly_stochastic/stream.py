"""The first rows of a stream, which determine its classes and the width of the kernel."""

import numpy as np

from kernbench._random import generator_of
from kernbench.estimators.arguments.chunks import Reader

FIRST_ROWS = 4000  # rows


def open_stream(model, chunks, classes=None, *, labelled=True, n_classes=2, rng=None):
    """Open a stream.

    Parameters
    ----------
    model : estimator
        Gets ``n_features_in_`` and, if the chunks have them, ``feature_names_in_``.
    chunks : iterable
    classes : array-like, optional
    labelled : bool, default=True
    n_classes : int, default=2
        Without `classes`, read until this many labels were found; with 0 they are targets of a regression.
    rng : Generator, optional
        Gives the order of the rows; by default ``generator_of(model.random_state)``.

    Returns
    -------
    reader : Reader
        Starts at the first row again.
    X, y : ndarrays
        The first rows, X maybe a CSR matrix.
    weights : ndarray, or None
        Of the first rows; None if they are alike.
    labels : ndarray
        `classes` or, if None, those of y.
    fault : Exception or None
        The error that ended the reading, to be raised after the rows before it are learned from.

    Raises
    ------
    ValueError
        For a stream without rows.
    """
    rng = generator_of(model.random_state) if rng is None else rng
    # A separate generator, so that neither a callback nor the solver changes its draws.
    rng = np.random.default_rng(rng.integers(2**63))
    is_regression = labelled and n_classes == 0
    reader = Reader(chunks, rng, shuffle=model.shuffle, labelled=labelled, targets=is_regression)
    X, y, weights, labels, fault = reader.peek(FIRST_ROWS, classes, n_classes=n_classes)
    if len(y) == 0:
        raise fault or ValueError("the stream is empty: chunks must contain at least one (X, y) with rows")
    reader.set_columns(model)
    return reader, X, y, weights, labels, fault
