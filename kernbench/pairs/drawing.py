"""Drawing pairs for the incomplete U-statistic: a few of all pairs, with replacement."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernbench.pairs.checks import binary_problem
from kernbench.validation.numbers import check_number


def draw_pairs(
    rng: Any, y: ArrayLike, n_pairs: int, *, sample_weight: ArrayLike | None = None, balanced: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs of a positive and a negative sample, with replacement.

    Parameters
    ----------
    rng : numpy.random.Generator
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    n_pairs : int
        At least 1.
    sample_weight : array-like of shape (n_samples,), optional
        Both members of a pair are drawn in proportion to their weights, so that the plain mean over the drawn
        pairs estimates the weighted mean over all pairs. Uniform by default.
    balanced : bool, default=False
        Use every sample as often as any other of its class (in proportion to the weights, if there are any),
        give or take one: same mean, smaller variance.

    Returns
    -------
    first, second : ndarray of shape (n_pairs,), int32
        Indices of the positive and the negative samples.
    """
    positive, weights = binary_problem(y, sample_weight)
    check_number("n_pairs", n_pairs, at_least=1, whole=True)
    classes = [np.flatnonzero(members).astype(np.int32) for members in (positive, ~positive)]
    shares = [None if weights is None else weights[members] for members in classes]
    if balanced:
        drawn = [_balanced(rng, len(c), n_pairs, w) for c, w in zip(classes, shares)]
    else:
        u = rng.random((n_pairs, 2))  # pair by pair: the first pairs of a longer list are the shorter list
        drawn = [_independent(u[:, k], len(classes[k]), shares[k]) for k in range(2)]
    return tuple(members[picks] for members, picks in zip(classes, drawn))


def _independent(u, n, weights):
    """Turn uniform numbers into indices below n."""
    if weights is None:
        return np.minimum((u * n).astype(np.intp), n - 1)
    cumulative = np.cumsum(weights)
    return np.searchsorted(cumulative, u * cumulative[-1], side="right").clip(max=np.flatnonzero(weights)[-1])


def _balanced(rng, n, size, weights):
    """Indices below n, each floor or ceil of its share of `size` times, in random order."""
    if weights is None:
        return np.concatenate([rng.permutation(n) for _ in range(-(-size // n))])[:size]
    # Systematic sampling: equidistant marks on the cumulative weights of the samples in random order.
    order = rng.permutation(n)
    cumulative = np.cumsum(weights[order])
    marks = (np.arange(size) + rng.random()) * (cumulative[-1] / size)
    picks = np.searchsorted(cumulative, marks, side="right").clip(max=np.flatnonzero(weights[order])[-1])
    return order[rng.permutation(picks)]
