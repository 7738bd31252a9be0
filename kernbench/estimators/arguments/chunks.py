"""Chunks of a stream: read in order or shuffled, and checked as far as they are drawn."""

import numpy as np
from scipy import sparse

from kernbench.estimators.arguments.targets import targets_of_chunk
from kernbench.estimators.arguments.training_data import distinct_labels, labels_outside
from kernbench.problems.streaming.batches import stacked
from kernbench.problems.streaming.shuffled import Shuffled
from kernbench.validation.arrays import check_indices
from kernbench.validation.foreign import host_array, refuse_times, without_sparse_columns
from kernbench.validation.rows import check_same_columns, first_not_finite

MOST_COUNTED = 10**9  # rows: NumPy draws from the multivariate hypergeometric distribution for fewer


class Chunk:
    """Examples of one chunk, each handed out once.

    Nothing is read but what is drawn, so a chunk may be a memory map of any size.

    Parameters
    ----------
    number : int
        Position of the chunk in the stream, from 1, for messages.
    data : tuple
        (X, y) or (X, y, weights); without labels also X, or (X, None, weights).
    rng : Generator or None
        None hands the rows out in their order.
    labelled : bool, default=True
    """

    def __init__(self, number, data, rng, labelled=True):
        self.number = number
        if not labelled and not isinstance(data, tuple):
            data = (data, None)
        if not isinstance(data, tuple | list) or len(data) not in (2, 3):
            raise ValueError(f"chunk {number} must be a tuple (X, y) or (X, y, weights), got {type(data).__name__}")
        X, y, weights = (
            host_array(part, f"{name} of chunk {number}")
            for part, name in zip((*data, None)[:3], ("X", "y", "weights"), strict=True)
        )
        check_indices(X, f"X of chunk {number}")
        refuse_times(X, f"X of chunk {number}")
        names = list(getattr(X, "column_names", getattr(X, "columns", ())))  # of pyarrow, else
        self.names = names if names and all(isinstance(name, str) for name in names) else None
        X = without_sparse_columns(X)
        by_index = hasattr(X, "iloc") or hasattr(X, "fetch")  # as rows that lie elsewhere are
        self.X = X.tocsr() if sparse.issparse(X) else X if by_index else np.asanyarray(X)
        self.y = np.asanyarray(y) if labelled else np.zeros(np.shape(self.X)[:1])
        self.weights = None if weights is None else np.asanyarray(weights)
        if len(np.shape(self.X)) != 2 or self.y.ndim != 1 or self.X.shape[0] != len(self.y):
            expected = "rows X of shape (n, d) and n labels y" if labelled else "rows X of shape (n, d)"
            found = f"shapes {np.shape(self.X)} and {np.shape(self.y)}" if labelled else f"shape {np.shape(self.X)}"
            raise ValueError(f"chunk {number} must have {expected}, got {found}")
        if self.weights is not None and self.weights.shape != self.y.shape:
            raise ValueError(f"chunk {number} has {len(self.y)} rows, but weights of shape {self.weights.shape}")
        if self.weights is not None and self.weights.dtype.kind in "cmM":  # as of arrays, see `check_weights`
            raise ValueError(f"weights of chunk {number} must hold real numbers, got {self.weights.dtype}")
        self.n = len(self.y)
        self._order = Shuffled(self.n, rng) if self.n and rng is not None else None  # empty chunks take no draws
        self.n_left = self.n

    def take(self, count):
        """Return (X, y, weights) of up to `count` rows that were not taken before; sparse rows stay sparse."""
        count = min(count, self.n_left)
        start = self.n - self.n_left
        rows = np.arange(start, start + count)
        if self._order is not None:
            rows = self._order.between(start, start + count)
        self.n_left -= count
        return self.read(rows)

    def read(self, rows):
        """Return (X, y, weights) of these rows, checked."""
        X = self.X.iloc[rows].to_numpy() if hasattr(self.X, "iloc") else self.X[rows]
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.dtype.kind == "c":  # NumPy would drop the imaginary parts
            raise ValueError(f"chunk {self.number} of the stream: X holds complex numbers, which are not supported")
        try:
            X = X.astype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"chunk {self.number} of the stream: X holds values that are not numbers: {error}"
            ) from error
        if not np.isfinite(X.data if sparse.issparse(X) else X).all():
            wrong = [not np.isfinite(row.data if sparse.issparse(row) else row).all() for row in X]
            row = rows[wrong.index(True)]
            sentence = first_not_finite(X, None).partition(", first in row")[0]
            raise ValueError(f"chunk {self.number} of the stream: {sentence}, in row {row} of the chunk")
        try:
            weights = np.ones(len(rows)) if self.weights is None else np.asarray(self.weights[rows], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"chunk {self.number} of the stream: weights must be numbers: {error}") from error
        if not np.all(np.isfinite(weights) & (weights >= 0)):
            raise ValueError(f"chunk {self.number} of the stream: weights must be finite and at least 0")
        return X, np.asarray(self.y[rows]), weights


def unless_alike(weights):
    """Return weights, or None if they say nothing about the rows that determine a kernel: all are 1, or all are 0."""
    return weights if np.any(weights) and np.any(weights != 1.0) else None


def shares_of(left, count, rng):
    """Return how many of `count` rows come from each chunk, if they are drawn from the rows that chunks have left.

    Parameters
    ----------
    left : ndarray of int
    count : int
    rng : Generator

    Returns
    -------
    ndarray of int
    """
    total = left.sum()
    if total < MOST_COUNTED:
        return rng.multivariate_hypergeometric(left, count)
    rows = rng.choice(total, count, replace=False, shuffle=False)
    return np.bincount(np.searchsorted(np.cumsum(left), rows, side="right"), minlength=len(left))


class Reader:
    """Examples of a stream, in the order of its chunks, or at random if it is a list of them.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, weights)
        Of a list or tuple each row is drawn from all that are left. Anything else is read chunk after chunk.
    rng : Generator
    shuffle : bool, default=True
        False reads all rows in their order.
    labelled : bool, default=True
        Whether there are labels.
    targets : bool, default=False
        Whether they are targets of a regression, finite numbers.

    Attributes
    ----------
    classes : ndarray or None
        Labels that may come; None does not check them.
    n_features : int or None
        Columns of the rows; None before the first chunk.
    names : list of str or None
        Names of the columns, if they have any.
    """

    def __init__(self, chunks, rng, *, shuffle=True, labelled=True, targets=False):
        self._rng, self._count, self.classes, self.n_features, self.names = rng, 0, None, None, None
        self._shuffle, self._labelled, self._targets = shuffle, labelled, targets
        self._waiting = []  # examples read to look at labels and scales, which come first
        if not hasattr(chunks, "__iter__"):
            raise ValueError(f"chunks must be a list or an iterator of chunks, got {type(chunks).__name__}")
        self._open, self._rest = [], iter(chunks)
        self.known_as_whole = shuffle and isinstance(chunks, list | tuple)
        while self.known_as_whole and self._next_chunk():
            pass
        self._all = list(self._open) if self.known_as_whole else []
        self._ends = np.cumsum([chunk.n for chunk in self._all])
        self.n_rows = int(self._ends[-1]) if self._all else 0  # of a stream that is known as a whole

    def set_columns(self, model):
        """Set ``n_features_in_`` and, if chunks read so far name their columns, ``feature_names_in_``."""
        model.n_features_in_ = self.n_features
        vars(model).pop("feature_names_in_", None)  # of an earlier fit
        if self.names is not None:
            model.feature_names_in_ = np.array(self.names, dtype=object)

    def peek(self, count, classes=None, n_classes=2):
        """Read at least `count` examples, and on until there are `n_classes` classes unless these are given.

        The examples are handed out first.

        Returns
        -------
        X : ndarray or CSR matrix
        y : ndarray
        weights : ndarray, or None
            See `unless_alike`.
        labels : ndarray
            `classes` or, if None, those of y.
        fault : Exception or None
            What ended the reading. X and y are the examples before it, and the stream ends with them.
        """
        parts, fault = [], None
        try:
            parts.append(self._take(count))
            labels = distinct_labels(parts[0][1] if classes is None else classes)
            while classes is None and len(labels) < n_classes and len(parts[-1][1]):
                parts.append(self._take(count))
                labels = distinct_labels(np.concatenate([labels, parts[-1][1]]))
        except Exception as error:
            fault = error
            parts += self._waiting
            self._open, self._rest, self.known_as_whole = [], iter(()), False
        X, y, weights = self._joined(parts)
        if fault is not None:
            labels = distinct_labels(y if classes is None else classes)
        # Chunk after chunk so far, and they may be a class each.
        order = self._rng.permutation(len(y)) if self._shuffle else slice(None)
        self._waiting = [(X[order], y[order], weights[order])]
        return X, y, unless_alike(weights), labels, fault

    def take(self, count):
        """Return (X, y, weights) of up to `count` examples, none at the end of the stream."""
        return self._take(count)

    def redraw(self, count):
        """Return (X, y, weights) of rows drawn with replacement from all; None if the chunks come only once."""
        if not self.known_as_whole:
            return None
        rows = np.sort(self._rng.integers(self._ends[-1], size=count))
        owner = np.searchsorted(self._ends, rows, side="right")
        parts = []
        for k in np.unique(owner):
            chunk = self._all[k]
            parts.append(chunk.read(rows[owner == k] - (self._ends[k] - chunk.n)))
            self._check_labels(parts[-1][1], f"chunk {chunk.number} of the stream")
        return self._joined(parts)

    def _take(self, count):
        parts = []
        while self._waiting and count > 0:
            X, y, weights = self._waiting.pop()
            self._check_labels(y, "the stream")
            parts.append((X[:count], y[:count], weights[:count]))
            if len(y) > count:
                self._waiting = [(X[count:], y[count:], weights[count:])]
            count -= min(count, len(y))
        try:
            while count > 0 and (self._open or self._next_chunk()):
                left = np.array([chunk.n_left for chunk in self._open])
                shares = shares_of(left, min(count, left.sum()), self._rng) if len(left) > 1 else [count]
                for chunk, share in zip(self._open, shares, strict=True):
                    if share:
                        part = chunk.take(int(share))
                        self._check_labels(part[1], f"chunk {chunk.number} of the stream")
                        parts.append(part)
                        count -= len(part[1])
                self._open = [chunk for chunk in self._open if chunk.n_left]
        except Exception:
            self._waiting = parts + self._waiting
            raise
        return self._joined(parts)

    def _joined(self, parts):
        parts = [part for part in parts if len(part[1])] or parts[:1]
        if not parts:
            return np.empty((0, self.n_features or 0)), np.empty(0), np.empty(0)
        return tuple(stacked(column) for column in zip(*parts, strict=True))

    def _check_labels(self, y, where):
        if self._targets:
            try:
                targets_of_chunk(y)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from error
        if self.classes is None:
            return
        try:
            unknown = labels_outside(self.classes, y).tolist()
        except (TypeError, ValueError) as error:  # labels that cannot be compared with each other, or with the classes
            raise ValueError(f"{where}: y holds labels of another type than the classes: {error}") from error
        if unknown:
            known = self.classes.tolist()
            raise ValueError(f"{where}: y holds {unknown[:3]}, which are not among the classes {known}")

    def _next_chunk(self):
        """Open the next chunk that is not empty; whether there is one."""
        for data in self._rest:
            self._count += 1
            chunk = Chunk(self._count, data, self._rng if self._shuffle else None, self._labelled)
            if self.n_features is None:
                self.n_features = chunk.X.shape[1]
            elif chunk.X.shape[1] != self.n_features:
                raise ValueError(f"chunk {self._count} of the stream has {chunk.X.shape[1]} features, those before had "
                                 f"{self.n_features}")  # fmt: skip
            check_same_columns(f"chunk {self._count} of the stream", chunk.names, "the chunks before", self.names)
            self.names = self.names or chunk.names
            if chunk.n:
                self._open.append(chunk)
                return True
        return False
