"""Batches with a share of rows from every part of the data, drawn by the worker that holds the part."""

from dataclasses import dataclass

import numpy as np

from kernbench.problems.streaming.shuffled import Shuffled

FEWEST, MOST = 8, 64  # strata; more workers do not help
ROWS_OF_A_BATCH = 128  # rows of each stratum, between these: products with fewer are slow
FEWEST_ROWS = 64  # of a stratum


def strata_of(n_rows, batch_size, most=MOST):
    """Return the bounds of the strata of rows, which depend only on these numbers, not on who holds the rows."""
    n_strata = min(most, max(FEWEST, batch_size // ROWS_OF_A_BATCH), max(1, n_rows // FEWEST_ROWS))
    return n_rows * np.arange(n_strata + 1) // n_strata


@dataclass(frozen=True)
class Draw:
    """The rows of a batch.

    Attributes
    ----------
    numbers : ndarray of shape (n_strata,)
        Index of the current pass over each stratum.
    spans : ndarray of shape (n_strata, 2)
        Stratum s contributes positions spans[s, 0] to spans[s, 1] - 1 of its random order.
    weights : ndarray of shape (n_strata,), or None
        Weight of each row of a stratum.
    """

    numbers: np.ndarray
    spans: np.ndarray
    weights: np.ndarray | None = None

    def __len__(self):
        return int((self.spans[:, 1] - self.spans[:, 0]).sum())


def draw(counts, start, stop, number):
    """Return the batch from position `start` to `stop` of a pass, where stratum s has counts[s] rows."""
    n_rows, n_strata = sum(counts), len(counts)

    def places(end):  # staggered, so that small batches are not empty in turn
        return [(n * end * n_strata + s * n_rows) // (n_rows * n_strata) for s, n in enumerate(counts)]

    return Draw(np.full(n_strata, number), np.array([places(start), places(stop)]).T)


def joined(draws):
    """Join the draws from two samples into one that gives both the same weight."""
    sizes = np.array([len(part) for part in draws])
    weights = np.repeat(sizes.sum() / sizes, [len(part.spans) for part in draws])
    return Draw(
        np.concatenate([part.numbers for part in draws]), np.concatenate([part.spans for part in draws]), weights
    )


class Order:
    """The random order of the rows of one stratum, a new one in each pass.

    Parameters
    ----------
    stratum : int
    rows : int or ndarray
        Number of rows, or the indices of those that are used.
    seed : int
    shuffle : bool
    """

    def __init__(self, stratum, rows, seed, shuffle):
        self.stratum, self.rows, self.seed, self.shuffle = stratum, rows, seed, shuffle
        self._number = -1

    def between(self, number, start, stop):
        """Return the indices of rows at positions start to stop - 1 of a pass."""
        places = np.arange(start, stop)
        n_rows = self.rows if np.ndim(self.rows) == 0 else len(self.rows)
        if self.shuffle:
            if number != self._number:
                rng = np.random.Generator(np.random.Philox(key=[self.seed, number * MOST + self.stratum]))
                self._order, self._number = Shuffled(n_rows, rng), number
            places = self._order.between(start, stop)
        return places if np.ndim(self.rows) == 0 else self.rows[places]
