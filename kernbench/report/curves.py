"""Curves of several repeats on one grid."""

import numpy as np

N_GRID = 200


def positive_steps(x, y):
    """Drop points without a positive finite `x` and a finite `y`; return both as arrays, `x` increasing.

    Parameters
    ----------
    x, y : sequences of float or None
    """
    pairs = np.array([(a, b) for a, b in zip(x, y) if a is not None and b is not None], dtype=np.float64)
    if pairs.size == 0:
        return np.empty(0), np.empty(0)
    pairs = pairs[np.isfinite(pairs).all(axis=1) & (pairs[:, 0] > 0)]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    return pairs[:, 0], pairs[:, 1]


def mean_curve(curves):
    """Average step curves over repeats on a common logarithmic grid.

    Between two points of its trace a solver still has the earlier point's model, and after its end the last
    one's: the curves are steps and are carried forward, never interpolated towards a value nobody had yet.

    Parameters
    ----------
    curves : list of (x, y)
        As `positive_steps` returns them; empty ones are left out.

    Returns
    -------
    x, y : ndarrays
        The grid begins where every repeat has begun and ends where the last one ends.
    """
    curves = [(x, y) for x, y in curves if x.size]
    if not curves:
        return np.empty(0), np.empty(0)
    if len(curves) == 1:
        return curves[0]
    start, end = max(x[0] for x, _ in curves), max(x[-1] for x, _ in curves)
    grid = np.geomspace(start, end, N_GRID)
    grid[0], grid[-1] = start, end  # geomspace rounds its ends
    steps = [y[np.searchsorted(x, grid, side="right") - 1] for x, y in curves]
    return grid, np.mean(steps, axis=0)


def settled_at(x, y, level):
    """First `x` from which `y` stays at or below `level` to the end, or None.

    The first crossing would flatter a curve that jumps about.
    """
    above = np.flatnonzero(np.asarray(y) > level)
    first = above[-1] + 1 if above.size else 0
    return float(x[first]) if first < len(x) else None
