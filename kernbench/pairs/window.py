"""Ranges of a ranking as masses: which part of the sorted weights a window covers.

A window [a, b] of false positive rates covers the negatives from mass W a to mass W b, the highest score first, W
being their whole weight. The ends may cut a sample in two. A sample of weight k covers as much as k copies.
"""

import numpy as np
from numpy.typing import ArrayLike

from kernbench.pairs.checks import binary_problem, checked_weights
from kernbench.validation.numbers import check_name, is_integer, is_number

TINIEST = 1e-260  # margins and residuals below it rank as 0; distinct ones then differ by more than 1e-280
SAME = 1e-9  # distance from a whole number of samples that counts as rounding: 0.07 * 100 is 7.000000000000001


def window_of(
    y: ArrayLike,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    ranks: tuple[int, int] | None = None,
    weights: ArrayLike | None = None,
) -> tuple[float, float]:
    """Return the masses of the negatives between which a window of false positive rates lies.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 or +1, or a boolean mask of the positives.
    fpr_range : (float, float), default=(0.0, 1.0)
        (a, b) with 0 <= a < b <= 1.
    ranks : (int, int), optional
        (m, n) with 0 <= m < n, instead of `fpr_range`: the negatives ranked m + 1 to n, or so much of their weight.
    weights : array-like of shape (n,), optional
        At least 0. All 1 by default.

    Returns
    -------
    low, high : float
        In units of `weights`; whole numbers where all weights are whole and rounding alone made the difference.

    Raises
    ------
    ValueError
        An empty range or one out of bounds, `ranks` together with another `fpr_range` than the whole, or what
        ``binary_problem`` of ``pairs.checks`` raises.
    """
    positive, _ = binary_problem(y, weights)
    weights = None if weights is None else checked_weights(weights, len(positive))[~positive]
    total = float(len(positive) - np.count_nonzero(positive) if weights is None else weights.sum())
    if ranks is not None:
        if tuple(np.ravel(np.asarray(fpr_range, dtype=object))) != (0.0, 1.0):
            raise ValueError("give either fpr_range or ranks, not both")
        return _masses_of_ranks("ranks", ranks, total, "the negatives", whole=True)
    low, high = checked_fpr_range(fpr_range)
    low, high = total * low, total * high
    if weights is None or np.all(weights == np.floor(weights)):
        low, high = (float(np.round(end)) if abs(end - np.round(end)) <= SAME else end for end in (low, high))
    if low == high:
        raise ValueError(
            f"fpr_range={tuple(fpr_range)!r} is too narrow: it covers less than {SAME} of a negative sample"
        )
    return low, high


def structural_window(y, fpr_range=(0.0, 1.0), ranks=None, weights=None, rounding="mass"):
    """Return the masses of the window of the structural bound.

    Parameters
    ----------
    y, fpr_range, ranks, weights
        See :func:`window_of`.
    rounding : {"mass", "integer"}, default="mass"
        "integer" rounds the ends inwards to whole samples, m = ceil(N a) and n = floor(N b), as Narasimhan and Agarwal
        (2013) do.

    Returns
    -------
    low, high : float
    """
    check_name("rounding", rounding, ("mass", "integer"))
    low, high = window_of(y, fpr_range, ranks, weights)
    if rounding == "mass":
        return low, high
    if weights is not None and not np.all(np.asarray(weights) == 1):
        raise ValueError("rounding='integer' counts samples: leave out the weights, or choose rounding='mass'")
    low, high = float(np.ceil(low)), float(np.floor(high))
    if low >= high:
        raise ValueError(
            f"fpr_range={tuple(fpr_range)!r} holds no whole negative sample: widen it, or choose rounding='mass'"
        )
    return low, high


def range_of(ranked_range, total):
    """Return the masses of a ranked range (m, n), 0 <= m < n <= total, of losses whose total weight is `total`."""
    return _masses_of_ranks("ranked_range", ranked_range, float(total), "the losses", whole=False)


def checked_fpr_range(fpr_range):
    """Return the ends of a range of false positive rates: (a, b) with 0 <= a < b <= 1."""
    return _pair_of_rates("fpr_range", fpr_range)


def checked_tpr_range(tpr_range):
    """Return the ends of a range of true positive rates: (a, b) with 0 <= a < b <= 1."""
    return _pair_of_rates("tpr_range", tpr_range)


def _pair_of_rates(name, rates):
    ends = rates.tolist() if isinstance(rates, np.ndarray) else rates
    if isinstance(ends, tuple | list) and len(ends) == 2 and all(map(is_number, ends)):
        low, high = map(float, ends)
        if 0 <= low < high <= 1:
            return low, high
    raise ValueError(f"{name} must be a pair (a, b) of numbers with 0 <= a < b <= 1, got {rates!r}")


def _masses_of_ranks(name, ranks, total, what, whole):
    try:
        low, high = ranks
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (m, n), got {ranks!r}") from None
    if not all(is_integer(end) if whole else is_number(end) for end in (low, high)):
        kind = "integers" if whole else "numbers"
        raise ValueError(f"{name} must be a pair (m, n) of {kind}, got {ranks!r}")
    if not 0 <= low < high:
        raise ValueError(f"{name} must be (m, n) with 0 <= m < n, got {ranks!r}")
    if high > total * (1 + 1e-12):
        raise ValueError(f"{name}={tuple(ranks)!r} goes beyond {what}, whose total weight is {total:g}: lower n")
    return float(low), min(float(high), total)
