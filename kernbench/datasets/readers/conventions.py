"""Types that all readers return: integral labels as int64, CSR matrices with 32-bit indices."""

import re

import numpy as np

from kernbench.datasets.errors import malformed

MAX_INDEX = 2**31 - 1  # scikit-learn's solvers reject 64-bit column indices
_INTEGER = re.compile(r"[+-]?[0-9]+")


def integers_if_whole(y):
    """Return float labels as int64 when each of them is a whole number, else unchanged."""
    # As a Python number: 2^53 overflows float16.
    if float(np.abs(y).max(initial=0)) < 2**53 and np.all(y == np.rint(y)):
        return y.astype(np.int64)
    return y


def exact_labels(y, fields, path):
    """Return the numeric labels of a text file: int64 where all are integers of 64 bits or other whole numbers below
    2^53, else float64.

    Parameters
    ----------
    y : ndarray of shape (n,), float64
        The labels as the parser read them, which rounds integers beyond 2^53.
    fields : callable
        Returns the labels as text, in their order; called only where one of them is so large.
    path : str or Path

    Raises
    ------
    DataFileError
        For labels that are not all such integers, of which two different ones are the same number in float64.
    """
    if np.abs(y).max(initial=0) < 2**53:
        return integers_if_whole(y)
    integers = [int(field) if _INTEGER.fullmatch(field) else None for field in fields()]
    if None not in integers and -(2**63) <= min(integers) and max(integers) < 2**63:
        return np.array(integers, dtype=np.int64)
    known = {}
    for rounded, integer in zip(y.tolist(), integers, strict=True):
        if integer is not None and known.setdefault(rounded, integer) != integer:
            raise malformed(
                path,
                f"the labels {known[rounded]} and {integer} are the same number in float64: number the classes from 0, "
                "or write targets of a regression with a decimal point",
            )
    return y


def with_small_indices(X):
    """Convert the indices of a CSR matrix to int32, in place, where they fit; return the matrix."""
    if max(X.shape[1], X.nnz) <= MAX_INDEX:
        X.indices = X.indices.astype(np.int32, copy=False)
        X.indptr = X.indptr.astype(np.int32, copy=False)
    return X
