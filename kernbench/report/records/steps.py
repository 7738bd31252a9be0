"""Step curves: between two points of its trace a solver has the model of the earlier point."""

import numpy as np

from kernbench.report.records.cells import column, outside_trace
from kernbench.report.records.rows import place
from kernbench.report.statistics import finite

N_GRID = 200  # points of the common grid: a panel is no more than some 400 pixels wide
AT_ONCE = 1e-9  # seconds: stands for the 0 of the first point, which counts


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


def on_one_grid(curves):
    """Put the step curves of repeats on a common logarithmic grid.

    Curves are carried forward to the end, never interpolated towards a value that no model had yet.

    Parameters
    ----------
    curves : list of (x, y)
        Curves as `positive_steps` returns them, none empty.

    Returns
    -------
    x : ndarray of shape (n_points,)
        From the point at which all repeats have begun to the end of the last one.
    y : ndarray of shape (n_repeats, n_points)
    """
    if len(curves) == 1:
        return curves[0][0], curves[0][1][np.newaxis]
    start, end = max(x[0] for x, _ in curves), max(x[-1] for x, _ in curves)
    if start == end:
        return np.array([end]), np.array([[y[-1]] for _, y in curves])
    grid = np.geomspace(start, end, N_GRID)
    grid[0], grid[-1] = start, end  # geomspace rounds its ends
    return grid, np.array([y[np.searchsorted(x, grid, side="right") - 1] for x, y in curves])


def settled_at(x, y, level):
    """First `x` from which `y` stays at or below `level` to the end, or None.

    The first crossing would favour oscillating curves.
    """
    above = np.flatnonzero(np.asarray(y) > level)
    first = above[-1] + 1 if above.size else 0
    return float(x[first]) if first < len(x) else None


def seconds_until_final(record, base, metric, slack):
    """Seconds of a fit after which its trace of a metric is never again worse than the final value of `base`.

    The set-up of a fit counts, though the clock of its trace begins after it.

    Parameters
    ----------
    record, base : dict
        The second, whose final value is reached, has a finite value of `metric`.
    metric : kernbench.experiments.declare.Metric
    slack : float
        By which it may be worse.

    Returns
    -------
    float or None
        None for never.
    """
    seconds = [None if value is None else max(value, AT_ONCE) for value in column(record, "seconds")]
    x, y = positive_steps(seconds, column(record, metric.name))
    sign = 1.0 if metric.direction == "lower" else -1.0
    reached = settled_at(x, sign * y, sign * metric.of(base) + slack)
    return None if reached is None else reached + outside_trace(record, finite(place(record, "seconds.fit")))
