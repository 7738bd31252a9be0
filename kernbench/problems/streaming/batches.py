"""Sources of batches of examples: arrays, pass after pass in random order, or a stream that comes once.

A source has

* ``n_features``, ``dtype``: of the rows;
* ``next()``: the next `Batch`, or None at the end;
* ``place``: the position, a number. That of arrays may be set, to continue a run that stopped there;
* ``X``: the rows that come again in every pass, or None for a stream.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernbench.problems.streaming.shuffled import Shuffled


@dataclass(frozen=True)
class Batch:
    """Examples that are learned from together.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    y : ndarray of shape (n,) or (n, n_outputs), or None
    weights : ndarray of shape (n,), or None
        All of them positive.
    rows : ndarray of shape (n,), intp, or None
        Indices of the rows in the arrays that they come from.
    n_pass : int
        Passes over the data before this one.
    begins_pass : bool
    """

    X: object
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    rows: np.ndarray | None = None
    n_pass: int = 0
    begins_pass: bool = False

    def __len__(self):
        return self.X.shape[0]


class ArrayBatches:
    """Batches of arrays. Each pass hands out every row of positive weight once; its last batch may be a small one.

    The order of pass p is a function of the seed and p alone, so that a place in it is a number.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
        float32 or float64.
    y : ndarray of shape (n,) or (n, n_outputs), optional
    weights : array-like of shape (n,), optional
        At least 0.
    batch_size : int
    seed : int, default=0
    shuffle : bool, default=True
        False hands out the rows in their order, in every pass.
    n_passes : int, optional
        Without a limit by default.
    code : callable, optional
        Makes the labels of a batch of those in y.
    """

    def __init__(self, X, y=None, weights=None, *, batch_size, seed=0, shuffle=True, n_passes=None, code=None):
        self.X, self.y, self.batch_size, self.seed, self.shuffle = X, y, batch_size, seed, shuffle
        self.n_passes, self.n_features, self.dtype, self._code = n_passes, X.shape[1], X.dtype, code
        self._weights = self._used = None
        if weights is not None:
            self._weights = np.asarray(weights, dtype=np.float64)
            self._used = np.flatnonzero(self._weights > 0)
        self.n_rows = X.shape[0] if self._used is None else len(self._used)
        self.place = 0
        self._order, self._pass_of_order = None, -1

    @property
    def batches_per_pass(self):
        return -(-self.n_rows // self.batch_size)

    def next(self):
        """Return the next batch, or None after `n_passes` passes."""
        number = self.place // max(self.n_rows, 1)
        if self.n_rows == 0 or number == self.n_passes:
            return None
        start = self.place - number * self.n_rows
        stop = min(start + self.batch_size, self.n_rows)
        rows = np.arange(start, stop) if not self.shuffle else self._order_of(number).between(start, stop)
        rows = rows if self._used is None else self._used[rows]
        self.place += stop - start
        weights = None if self._weights is None else self._weights[rows]
        y = None if self.y is None else self.y[rows]
        return Batch(self.X[rows], y if self._code is None else self._code(y), weights, rows, number, start == 0)

    def _order_of(self, number):
        if number != self._pass_of_order:
            rng = np.random.Generator(np.random.Philox(key=[self.seed, number]))
            self._order, self._pass_of_order = Shuffled(self.n_rows, rng), number
        return self._order


class PairBatches:
    """Batches of two samples, half of each from either; labels +1 and -1, weights that give both the same mass.

    The place is a number of batches, and a pass one over the larger sample.

    Parameters
    ----------
    P, Q : ndarrays or CSR matrices
        Rows with the same number of columns and dtype.
    batch_size : int
    seed : int, default=0
    shuffle : bool, default=True
    n_passes : int, optional
        Without a limit by default.
    """

    def __init__(self, P, Q, *, batch_size, seed=0, shuffle=True, n_passes=None):
        self.X, self.n_features, self.dtype, self.n_passes = stacked([P, Q]), P.shape[1], P.dtype, n_passes
        self.batch_size, half = batch_size, max(1, batch_size // 2)
        self._sides = [
            ArrayBatches(side, batch_size=half, seed=seed + k, shuffle=shuffle) for k, side in enumerate((P, Q))
        ]
        self.batches_per_pass = max(side.batches_per_pass for side in self._sides)
        self.place = 0

    def next(self):
        """Return the next batch, or None after `n_passes` passes."""
        n_pass, number = divmod(self.place, self.batches_per_pass)
        if n_pass == self.n_passes:
            return None
        parts = []
        for side in self._sides:
            before, into = divmod(self.place, side.batches_per_pass)
            side.place = before * side.n_rows + min(into * side.batch_size, side.n_rows)
            parts.append(side.next())
        sizes = [len(part) for part in parts]
        rows = np.concatenate([parts[0].rows, self._sides[0].n_rows + parts[1].rows])
        y, weights = np.repeat([1.0, -1.0], sizes), np.repeat(sum(sizes) / np.array(sizes), sizes)
        self.place += 1
        return Batch(self.X[rows], y, weights, rows, n_pass, number == 0)


class StreamBatches:
    """Batches of a stream, in its order; how it is cut into chunks does not matter.

    Parameters
    ----------
    take : callable
        ``take(count)`` returns up to `count` more examples (X, y, weights), and none at the end of the stream. y and
        weights may be None. Examples of weight 0 are left out.
    batch_size : int
    n_features : int
    dtype : dtype
    """

    X = None

    def __init__(self, take, *, batch_size, n_features, dtype):
        self._take, self.batch_size = take, batch_size
        self.n_features, self.dtype = n_features, np.dtype(dtype)
        self.place = self._n_unused = 0

    def next(self):
        """Return the next batch, smaller than `batch_size` only at the end of the stream, or None after it.

        Raises
        ------
        ValueError
            At the end of a stream whose examples all have weight 0.
        """
        parts, missing = [], self.batch_size
        while missing > 0:
            X, y, weights = self._take(missing)
            if X.shape[0] == 0:
                break
            if weights is not None and not np.all(weights > 0):
                used = np.flatnonzero(weights > 0)
                self._n_unused += len(weights) - len(used)
                X, y, weights = X[used], None if y is None else y[used], weights[used]
            parts.append((X, y, weights))
            missing -= X.shape[0]
        parts = [part for part in parts if part[0].shape[0]]
        if not parts:
            if self.place == 0 and self._n_unused:
                raise ValueError("every example of the stream has weight 0: give at least one a positive weight")
            return None
        self.place += self.batch_size - missing
        X, y, weights = (None if column[0] is None else stacked(column) for column in zip(*parts, strict=True))
        X = X.astype(self.dtype, copy=False)
        return Batch(X if sparse.issparse(X) else np.ascontiguousarray(X), y, weights)


def stacked(parts):
    """Return arrays or CSR matrices below each other; arrays if some of them are."""
    if len(parts) == 1:
        return parts[0]
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.concatenate([part.toarray() if sparse.issparse(part) else part for part in parts])


def batches_of(X, kernel=None, *, y=None, weights=None, batch_size=64, seed=0, dtype=None, cache_bytes=None):
    """Return a source of batches of arrays, for either twin of a solver; it has no use for kernel and cache."""
    X = X if dtype is None else X.astype(dtype, copy=False)
    return ArrayBatches(X, y, weights, batch_size=batch_size, seed=seed)
