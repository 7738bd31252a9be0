"""Sources of examples for methods that work on a growing sample.

Such a method needs fresh examples, which join its sample, and validation examples, on which it evaluates a step. A
*source* returns ids for both, and the kernel values between ids: of rows of a kernel matrix here, of the slots
of a stream in :mod:`kernbench.problems.streaming.stream_source`.
"""

import numpy as np

from kernbench.problems.draws import as_generator, draw_indices
from kernbench.problems.margin_problem import MarginProblem


class RowSource:
    """The rows of a kernel matrix, drawn uniformly: fresh rows without replacement, validation rows with replacement.

    Rows of weight 0 are never drawn. The draws do not depend on the weights otherwise, so the losses of the sample are
    weighted: its objective is unbiased, and exact once every row is in the sample.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
    fit_intercept : bool
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    size : int
        Ids are 0 to size - 1; here the number of rows.
    y, weights : ndarray of shape (size,)
    share : float
        Share of the rows that can be drawn: the mean loss over a sample times `share` estimates the mean over all rows.
    n_left : int
        Rows that are not in the sample yet.
    dtype : dtype
        Type of kernel values.
    """

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, random_state=None):
        if alpha is None:
            raise ValueError("a method that samples needs alpha, a positive number")
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self.problem, self.rows, self.rng = problem, rows, as_generator(random_state)
        self.y, self.weights, self.size = problem.y, problem.weights, problem.n
        self.dtype = np.dtype(rows.dtype)
        self._used = None if np.all(problem.weights > 0) else np.flatnonzero(problem.weights > 0)
        self.n_drawable = problem.n if self._used is None else len(self._used)
        self.share = self.n_drawable / problem.n
        self._taken = np.zeros(problem.n, dtype=bool)
        self.n_left = self.n_drawable

    @property
    def n_evaluations(self):
        return self.rows.n_evaluations

    def take(self, ids):
        """Mark rows as taken, for instance those of a resumed run, and return them; rows of weight 0 are left out."""
        ids = np.asarray(ids, dtype=np.intp)
        ids = ids[(self.weights[ids] > 0) & ~self._taken[ids]]
        self._taken[ids] = True
        self.n_left -= len(ids)
        return ids

    def fresh(self, count, both_classes=False):
        """Return at most `count` ids that were not taken before, in the order in which they were drawn.

        With `both_classes` the last one is replaced by a row of the other class if all are of one class.
        """
        parts, missing = [np.empty(0, dtype=np.intp)], min(count, self.n_left)
        while missing > 0:
            # Draw until enough are new; this many draws are expected to yield the missing ones.
            trials = min(self.n_drawable, -(-missing * self.n_drawable // self.n_left))
            drawn = self._draw(trials)
            drawn = drawn[~self._taken[drawn]]
            first = np.sort(np.unique(drawn, return_index=True)[1])[:missing]
            parts.append(self.take(drawn[first]))
            missing -= len(first)
        ids = np.concatenate(parts)
        if both_classes and len(ids) and np.all(self.y[ids] == self.y[ids[0]]):
            others = (self.y != self.y[ids[0]]) & (self.weights > 0)
            others = np.flatnonzero(others & ~self._taken if np.any(others & ~self._taken) else others)
            other = others[draw_indices(self.rng, 1, len(others))]
            if len(ids) > 1:
                self._taken[ids[-1]] = False
                self.n_left += 1
                ids = ids[:-1]
            self.take(other)
            ids = np.concatenate([ids, other])
        return ids

    def validation(self, count):
        """Return `count` ids on which to evaluate a step, drawn with replacement."""
        return self._draw(count)

    def hold_out(self, share, cap):
        """Set a share of the rows, at most `cap`, aside for validation; return their ids."""
        return self.fresh(min(cap, int(share * self.n_drawable)))

    def drawable(self):
        """Return the ids that `validation` draws from; None for a stream, where they change."""
        return np.arange(self.size) if self._used is None else self._used

    def complete(self, ids):
        """Whether these distinct ids are all rows."""
        return len(ids) == self.n_drawable

    def n_outside(self, n_sample):
        """Return how many rows that can be drawn are not in a sample of this size."""
        return self.n_drawable - n_sample

    def outside(self, sample, count=None):
        """Return ids that are not in the sample, all of them or `count`, without affecting the draws of the run."""
        out = self.weights > 0
        out[sample] = False
        ids = np.flatnonzero(out)
        if count is None or len(ids) <= count:
            return ids
        return np.sort(np.random.default_rng(len(ids)).choice(ids, count, replace=False))

    def block(self, rows, columns):
        """Return the kernel values between two lists of ids."""
        return self.rows.block(rows, columns)

    def products(self, rows, columns, A):
        """Return the matrix of kernel values between two lists of ids times A."""
        return self.block(rows, columns) @ A

    def _draw(self, count):
        drawn = draw_indices(self.rng, count, self.n_drawable)
        return drawn if self._used is None else self._used[drawn]


def as_source(rows, y, **settings):
    """Return `rows` if it is a source, else the source of these kernel rows."""
    if hasattr(rows, "validation"):
        return rows
    return RowSource(rows, y, **settings)
