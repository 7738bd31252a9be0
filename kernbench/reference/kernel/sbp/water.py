"""The water level by selection, in O(n): Algorithms 2 and 3 of Cotter et al. 2012, corrected; equal weights.

Sorting is not needed to know the k smallest heights and their sum. Keep a bracket [lo, hi) of undecided ranks:
a[:lo] is certainly below the level, a[hi:] certainly above. Test whether the level lies above the bracket's median, and
halve the bracket; the lengths of all brackets add up to 2n.

Two corrections of the printed text: `hi` starts one past the end (the printed bound never counts the largest height),
and the candidate is tested together with all below it (the printed test can get stuck at the lower end). With an
intercept one search over the common count k replaces the paper's two coupled searches. The running time is expected,
not worst case, like that of any quickselect; ties are harmless.
"""

import numpy as np


def gamma_select(heights, volume):
    """Return the water level of one basin and the number k of heights below it.

    Parameters
    ----------
    heights : array-like of shape (n,)
    volume : float
        At least 0.

    Returns
    -------
    gamma : float
    k : int
        At least 1. Under exact ties another k may attain the same level.
    """
    a = np.array(heights, dtype=np.float64)
    lo, hi, covered = 0, len(a), 0.0
    while lo < hi:
        t = lo + (hi - lo - 1) // 2  # are the t + 1 smallest all below the level?
        _select(a, lo, hi, t)
        candidate = covered + a[lo : t + 1].sum()
        # The volume needed to reach the level a[t]; at least one height is always covered (V = 0).
        if t == 0 or a[t] * (t + 1) - candidate < volume:
            lo, covered = t + 1, candidate
        else:
            hi = t
    return (volume + covered) / lo, lo


def gamma_bias_select(positives, negatives, volume):
    """Return the water level of two basins, the intercept, and the number k below it in each.

    Parameters
    ----------
    positives, negatives : array-like
        The heights y_i f(x_i) of the two classes, neither empty.
    volume : float
        At least 0.

    Returns
    -------
    gamma, b : float
        b is the middle of the intercepts that attain gamma.
    k : int
    """
    p, n = np.array(positives, dtype=np.float64), np.array(negatives, dtype=np.float64)
    m = min(len(p), len(n))
    for a in (p, n):
        if len(a) > m:
            _select(a, 0, len(a), m - 1)  # a[:m] now holds the m smallest
    lo, hi, end = 0, m, m
    covered_p = covered_n = 0.0
    while lo < hi:
        t = lo + (hi - lo - 1) // 2
        _select(p, lo, end, t)
        _select(n, lo, end, t)
        candidate_p = covered_p + p[lo : t + 1].sum()
        candidate_n = covered_n + n[lo : t + 1].sum()
        needed = (p[t] * (t + 1) - candidate_p) + (n[t] * (t + 1) - candidate_n)
        if t == 0 or needed < volume:
            lo, covered_p, covered_n = t + 1, candidate_p, candidate_n
        else:
            hi = end = t
    k = lo
    total = (volume + covered_p + covered_n) / k  # g+ + g-, the sum of the two unshifted levels
    low = max(p[:k].max(), total - _next(n, k))
    high = min(_next(p, k), total - n[:k].max())
    level_p = 0.5 * (low + high)
    return total / 2, 0.5 * (total - 2 * level_p), k


def _select(a, lo, hi, t):
    """Reorder a[lo:hi] so that a[lo:t] <= a[t] <= a[t+1:hi]."""
    a[lo:hi].partition(t - lo)


def _next(a, k):
    return a[k:].min() if k < len(a) else np.inf
