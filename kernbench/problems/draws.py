"""Random choices shared by compiled solvers and their references, so that both take the same steps.

``Generator.random`` uses one word per number, so ten numbers drawn at once are the same as five and then five more:
results do not depend on how iterations are split into chunks.
"""

import numpy as np

from kernbench._random import as_generator

__all__ = [
    "PASSES",
    "UniformStream",
    "as_generator",
    "cumulative_weights",
    "draw_indices",
    "indices_of",
    "open_streams",
    "seed_of",
    "stratified_sample",
]

PASSES = ("permutation", "uniform")  # over the rows: each once, or as many drawn with replacement


def cumulative_weights(weights):
    """Cumulative sums for `draw_indices`, or None when all weights are equal (uniform draws)."""
    if weights is None or np.all(weights == weights[0]):
        return None
    return np.cumsum(weights, dtype=np.float64)


def draw_indices(rng, size, n, cumulative=None):
    """Draw `size` indices below `n` with replacement, one uniform number each.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int
    n : int
    cumulative : ndarray of shape (n,), optional
        Cumulative weights; index i is drawn with probability proportional to weight i. Uniform by default.

    Returns
    -------
    ndarray of shape (size,), intp
    """
    return indices_of(rng.random(size), n, cumulative)


def indices_of(u, n, cumulative=None):
    """Convert uniform numbers to indices, as in `draw_indices`.

    Parameters
    ----------
    u : ndarray
        Uniform numbers in [0, 1).
    n : int
    cumulative : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of the shape of `u`, intp
    """
    if cumulative is None:
        indices = (u * n).astype(np.intp)
    else:
        indices = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return np.minimum(indices, n - 1)


class UniformStream:
    """A stream of uniform random numbers that can be read ahead and resumed at a position.

    A solver that fetches kernel rows in batches must know its next draws, so its streams must not depend on other
    draws; one that resumes must continue each of them. A stream is therefore given by a seed, a number and a position.

    Parameters
    ----------
    seed : int
        Shared by the streams of one run.
    stream : int
        Number of the stream within its run.
    width : int, default=1
        Numbers per draw.
    position : int, default=0
        Draws to skip.

    Attributes
    ----------
    seed : int
    position : int
        The next draw.
    """

    CHUNK = 4096

    def __init__(self, seed, stream, width=1, position=0):
        self.seed = seed
        self._rng = np.random.Generator(np.random.Philox(key=[seed, stream]))
        self._width = width
        self._start = 0  # position of the first buffered draw
        self._buffer = np.empty((0, width))
        self.position = 0
        while self.position < position:
            skipped = min(self.CHUNK, position - self.position)
            self._rng.random((skipped, width))
            self.position += skipped
        self._start = self.position

    def ahead(self, count):
        """Return at least `count` draws from the current position on, shape (>= count, width), without advancing."""
        used = self.position - self._start
        if len(self._buffer) - used < count:
            fresh = self._rng.random((max(count, self.CHUNK), self._width))
            self._buffer = np.concatenate([self._buffer[used:], fresh])
            self._start, used = self.position, 0
        return self._buffer[used:]

    def next(self):
        """Return one draw, shape (width,), and advance."""
        draw = self.ahead(1)[0]
        self.position += 1
        return draw


def open_streams(seed, positions=(0, 0, 0)):
    """The three streams of the batch perceptron: coins, proposals for the first basin, proposals for the second."""
    return tuple(UniformStream(seed, k, width, positions[k]) for k, width in enumerate((1, 2, 2)))


def stratified_sample(rng, positive, weights, size):
    """Draw `size` samples without replacement, half of them positive if there are enough; ascending.

    Parameters
    ----------
    rng : numpy.random.Generator
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), or None
        Samples of weight 0 are not drawn.
    size : int
        Less than n.

    Returns
    -------
    ndarray of shape (<= size,), intp
    """
    classes = [np.flatnonzero(m if weights is None else m & (weights > 0)) for m in (positive, ~positive)]
    n_positive = min(len(classes[0]), max(size // 2, size - len(classes[1])))
    rooms = n_positive, size - n_positive
    drawn = [c if len(c) <= room else rng.choice(c, room, replace=False) for c, room in zip(classes, rooms)]
    return np.sort(np.concatenate(drawn))


def seed_of(random_state, initial=None):
    """Return the seed of a run: that of the run that `initial` continues, or one drawn from `random_state`."""
    if initial is not None and "seed" in initial.state:
        return int(initial.state["seed"][0])
    return int(as_generator(random_state).integers(2**53))
