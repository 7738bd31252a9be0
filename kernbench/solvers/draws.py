"""Random choices shared by compiled solvers and their references, so that both walk the same path.

``Generator.random`` consumes one word per number, so drawing ten numbers at once or five and five gives the same
sequence: how the iterations are split into chunks does not matter.
"""

import numpy as np


def as_generator(random_state):
    """Turn None, an int, a SeedSequence, a RandomState or a Generator into a ``numpy.random.Generator``.

    A RandomState (scikit-learn's currency) is asked for one 32-bit seed, so that it advances as its users expect.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint32))
    return np.random.default_rng(random_state)


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
    u = rng.random(size)
    if cumulative is None:
        indices = (u * n).astype(np.intp)
    else:
        indices = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return np.minimum(indices, n - 1)
