"""The water level: the largest smallest margin for a given volume of slack (Cotter et al. 2012).

Pour the volume V over a ground of heights c_i = y_i f(x_i), each w_i wide. The level gamma of the water,

    sum_i w_i max(0, gamma - c_i) = V        (gamma = min c if V = 0),

is what the slack-constrained SVM maximises over f in the unit ball. By linear programming duality

    gamma = min_k (V + S_k) / W_k,           W_k, S_k = sums of w and w c over the k smallest heights,   (W1)

and the minimising k is the number of examples below the level: the distribution p* = w_i / W_k on them gives a
supergradient of gamma. With an unregularised intercept the positives (heights c + b) and the negatives
(heights c - b) are two basins: at the best b both have the same mass mu under water. So the two sorted classes
can be merged by mass, the mu-th of one with the mu-th of the other, and the half-sums of the pairs are one basin
again (W2).
"""

from dataclasses import dataclass

import numpy as np

SAME_MASS = 1e-12  # relative difference of sums of weights that counts as rounding


@dataclass(frozen=True)
class WaterLevel:
    """The level, and the mass below it.

    Attributes
    ----------
    gamma : float
        The level.
    mass : float
        Weight under water: in the one basin, or in each of the two.
    positive, negative : float
        The highest ground under water in the basin of the positives and of the negatives; the same number
        twice if there is one basin.
    b : float
        The intercept of two basins, the midpoint of the admissible ones; 0.0 for one basin.
    """

    gamma: float
    mass: float
    positive: float
    negative: float
    b: float = 0.0


NO_LEVEL = "the values f(x_i) leave the range of floats, or the weights do: scale the features, or the weights"


def water_level(heights, weights, volume, y=None):
    """Return the `WaterLevel` of a volume over the heights.

    Parameters
    ----------
    heights : ndarray of shape (n,)
        c_i = y_i f(x_i), without an intercept.
    weights : ndarray of shape (n,)
        At least 0; examples of weight 0 do not count.
    volume : float
        V, at least 0.
    y : ndarray of shape (n,), optional
        Labels, -1 or +1, for two basins (an intercept); each class needs a positive weight. One basin by
        default.

    Returns
    -------
    WaterLevel
    """
    if y is None:
        basin = _Basin(heights, weights)
        gamma, mass = _lowest(basin.heights, basin.masses, volume)
        ground, _ = basin.around(mass)
        return WaterLevel(gamma, mass, ground, ground)
    positives, negatives = _Basin(heights[y > 0], weights[y > 0]), _Basin(heights[y < 0], weights[y < 0])
    pairs, masses = _pair(positives, negatives)
    gamma, mass = _lowest(pairs, masses, volume)
    return finish(positives, negatives, 0.5 * mass, gamma)


def paired_heights(heights, weights, y):
    """Merge two classes into the one basin that has their water level, for every volume.

    Returns
    -------
    heights : ndarray
        Half-sums of the mu-th smallest height of either class, ascending.
    masses : ndarray
        Widths of the steps: twice the length of the interval of mu, since both classes are counted.
    """
    return _pair(_Basin(heights[y > 0], weights[y > 0]), _Basin(heights[y < 0], weights[y < 0]))


def finish(positives, negatives, mass, gamma):
    """Return the level of two basins and the midpoint of the intercepts that attain it.

    Only the sum T = 2 gamma of the levels g+ = gamma - b and g- = gamma + b over the unshifted grounds is
    determined. In each basin the level may lie anywhere between the last ground under water and the next
    above it.
    """
    total = 2 * gamma
    last_p, next_p = positives.around(mass)
    last_n, next_n = negatives.around(mass)
    low = max(last_p, total - next_n)
    high = min(next_p, total - last_n)
    level_p = 0.5 * (low + high)
    level_n = total - level_p
    return WaterLevel(gamma, mass, last_p, last_n, b=0.5 * (level_n - level_p))


class _Basin:
    """The ground of one basin, ascending, with the mass up to and including each height."""

    def __init__(self, heights, weights):
        used = weights > 0
        order = np.argsort(heights[used], kind="stable")
        self.heights, self.masses = heights[used][order], weights[used][order]
        self.ends = np.cumsum(self.masses)

    def around(self, mass):
        """Return the heights just below and just above a covered mass (+inf when all of it is covered)."""
        last = np.searchsorted(self.ends, mass * (1 - SAME_MASS), side="left")
        following = np.searchsorted(self.ends, mass * (1 + SAME_MASS), side="right")
        above = self.heights[following] if following < len(self.heights) else np.inf
        return float(self.heights[last]), float(above)


def _lowest(heights, masses, volume):
    """Return the least (V + S_k) / W_k over prefixes of ascending heights (W1), and its W_k."""
    mass = np.cumsum(masses)
    levels = (volume + np.cumsum(masses * heights)) / mass
    k = np.argmin(levels)
    return float(levels[k]), float(mass[k])


def _pair(positives, negatives):
    common = min(positives.ends[-1], negatives.ends[-1])
    ends = np.union1d(positives.ends, negatives.ends)
    ends = ends[ends <= common]
    lengths = np.diff(ends, prepend=0.0)
    middles = ends - 0.5 * lengths  # strictly inside a piece on which neither height changes
    ground_p = positives.heights[np.searchsorted(positives.ends, middles)]
    ground_n = negatives.heights[np.searchsorted(negatives.ends, middles)]
    return 0.5 * (ground_p + ground_n), 2 * lengths
