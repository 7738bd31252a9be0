"""A stream of examples as a source for methods that work on a growing sample.

Half of the slots hold the sample; the other half hold recent examples for validation, of which new ones
replace the oldest. At the end of the stream the recent examples join the sample. Memory does not depend on the
length of the stream.
"""

import numpy as np
from scipy import sparse

from kernbench.kernels import blocks
from kernbench.problems.draws import draw_indices


class StreamSource:
    """A source of samples (see :mod:`kernbench.problems.streaming.samples`) that reads ahead in a stream.

    Parameters
    ----------
    kernel : Kernel
    reader : object
        ``reader.take(count)`` returns up to `count` new examples (X, y, weights) in random order, empty arrays at the
        end; ``reader.redraw(count)`` returns examples drawn from the whole stream, or None if it cannot be read again.
    room : int
        Size of the largest sample, and largest number of recent examples.
    n_features : int
    dtype : {float32, float64}
    rng : Generator
    is_sparse : bool, default=False
        Whether to hold the rows as a CSR matrix: else memory is that of all entries of the slots.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (2 * room, n_features)
        Slots 0 to room - 1 hold the sample, the others recent examples.
    y, weights : ndarray of shape (2 * room,)
    n_sample, n_recent, n_seen : int
        Examples in the sample, recent ones, and all read so far.
    """

    share = 1.0
    problem = None

    def __init__(self, kernel, reader, room, n_features, dtype, rng, is_sparse=False):
        self.kernel, self.reader, self.room, self.size, self.rng = kernel, reader, room, 2 * room, rng
        self.dtype = np.dtype(dtype)
        self.X = (sparse.csr_matrix if is_sparse else np.zeros)((self.size, n_features), dtype=dtype)
        self.y, self.weights = np.ones(self.size), np.ones(self.size)
        self.n_sample = self.n_recent = self.n_seen = self.n_evaluations = 0
        self._oldest = 0

    def __getstate__(self):
        """Leave out the reader: a stream cannot be pickled."""
        return {**vars(self), "reader": None}

    def __setstate__(self, state):
        """Copy arrays that are read-only, as joblib maps those of its workers: slots are written to."""
        vars(self).update(state)
        for name in ("X", "y", "weights"):
            own = getattr(self, name)
            if isinstance(own, np.ndarray) and not own.flags.writeable:
                setattr(self, name, np.array(own))

    def take(self, ids):
        """Return the ids of a resumed run, as an array."""
        return np.asarray(ids, dtype=np.intp)

    def fresh(self, count, both_classes=False):
        """Move at most `count` new examples into the sample, from the stream or, at its end, from recent ones."""
        count = min(count, self.room - self.n_sample)
        first = self.n_sample
        X, y, weights = self.reader.take(count)
        self._join(X, y, weights)
        while both_classes and not self.has_both():
            X, y, weights = self.reader.take(count)
            if len(y) == 0:
                raise ValueError("the stream ended before both classes had come; rows of weight 0 do not count")
            new = np.flatnonzero(y != self.y[0])[:1]
            if len(new):
                self.n_sample -= self.n_sample == self.room
                self._join(X[new], y[new], weights[new])
            old = np.setdiff1d(np.arange(len(y)), new)
            self._keep_recent(X[old], y[old], weights[old])
        spare = min(count - (self.n_sample - first), self.n_recent)
        if spare > 0 and not self.reader.known_as_whole:
            slots = self._drawn_from_recent(spare)
            self._join(self.X[slots], self.y[slots], self.weights[slots], seen=False)
            self._close_gaps(slots)
        return np.arange(first, self.n_sample)

    def has_both(self):
        """Whether the sample holds both classes."""
        y = self.y[: self.n_sample]
        return len(y) > 0 and bool(np.any(y != y[0]))

    def validation(self, count):
        """Return `count` ids on which to evaluate a step.

        They are drawn with replacement from all rows where the stream can be read again; else they are new examples or,
        at the end of the stream, drawn from all slots. There may be fewer, since rows of weight 0 are left out.
        """
        start, again = self._oldest, self.reader.redraw(min(count, self.room))
        new = self.reader.take(count) if again is None else again
        self._keep_recent(*new)
        if len(new[1]) == count or (again is not None and len(new[1])):
            return self.room + (start + np.arange(len(new[1]))) % self.room
        drawn = draw_indices(self.rng, count, self.n_sample + self.n_recent)
        return np.where(drawn < self.n_sample, drawn, self.room + drawn - self.n_sample)

    def hold_out(self, share, cap):
        """Raise ValueError: a stream has no fixed validation sample."""
        raise ValueError("a stream brings new examples for validation: use validation='redraw'")

    def drawable(self):
        return None

    def complete(self, ids):
        return False

    def n_outside(self, n_sample):
        """Return how many examples came that are not in the sample.

        A stream that can be read again brings as recent examples draws from all of its rows, those of the sample
        included: it returns inf, or 0 if the sample holds the whole stream.
        """
        if self.reader is not None and self.reader.known_as_whole:
            return np.inf if n_sample < self.reader.n_rows else 0
        return self.n_seen - n_sample

    def outside(self, sample, count=None):
        """Return the ids of recent examples, at most `count`."""
        return self.room + np.arange(self.n_recent)[:count]

    def block(self, rows, columns):
        """Return the kernel values between two lists of ids."""
        self.n_evaluations += len(rows) * len(columns)
        if len(rows) == 0 or len(columns) == 0:
            return np.zeros((len(rows), len(columns)), dtype=self.dtype)
        return blocks.block(self.kernel, self.X[rows], self.X[columns], dtype=self.dtype)

    def products(self, rows, columns, A):
        """Return the matrix of kernel values between two lists of ids times A, without storing it."""
        self.n_evaluations += len(rows) * len(columns)
        if len(columns) == 0:
            return np.zeros((len(rows), A.shape[1]))
        return blocks.matmul(self.kernel, self.X[rows], self.X[columns], A, dtype=self.dtype)

    def _join(self, X, y, weights, seen=True):
        if len(y) == 0:
            return
        self._put(slice(self.n_sample, self.n_sample + len(y)), X, y, weights)
        self.n_sample += len(y)
        self.n_seen += len(y) * seen

    def _keep_recent(self, X, y, weights):
        if len(y) == 0:
            return
        self.n_seen += len(y)
        X, y, weights = X[-self.room :], y[-self.room :], weights[-self.room :]
        self._put(self.room + (self._oldest + np.arange(len(y))) % self.room, X, y, weights)
        self._oldest = (self._oldest + len(y)) % self.room
        self.n_recent = min(self.n_recent + len(y), self.room)

    def _put(self, slots, X, y, weights):
        """Put examples into slots, in place of those that are there."""
        if sparse.issparse(self.X):
            X = sparse.csr_matrix(X)
            X.sum_duplicates()  # before rounding, as dense rows are
            X = X.astype(self.dtype)
            X.eliminate_zeros()
            rows = np.arange(self.size)
            rows[slots] = self.size + np.arange(len(y))
            self.X = sparse.vstack([self.X, X], format="csr")[rows]
        else:
            self.X[slots] = X.toarray() if sparse.issparse(X) else X
        self.y[slots], self.weights[slots] = y, weights

    def _drawn_from_recent(self, count):
        return self.room + np.sort(self.rng.permutation(self.n_recent)[:count])

    def _close_gaps(self, slots):
        kept = np.setdiff1d(np.arange(self.room, self.room + self.n_recent), slots)
        self._put(slice(self.room, self.room + len(kept)), self.X[kept], self.y[kept], self.weights[kept])
        self.n_recent = self._oldest = len(kept)
        self._oldest %= self.room
