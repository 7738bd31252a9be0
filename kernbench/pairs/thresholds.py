"""Thresholds for a required rate or least cost of errors, for the rule "positive if score >= threshold"."""

import numpy as np

from kernbench.pairs.curve import roc_vertices

SAME = 1e-12  # share of a class by which rounding of wish * weight may change a rate


def for_sensitivity(scores, positive, wish, weights=None):
    """Return the largest threshold with a true positive rate of at least `wish`; infinity for 0."""
    if wish <= 0:
        return np.inf
    return -quantile(-scores[positive], wish, None if weights is None else weights[positive])


def for_specificity(scores, positive, wish, weights=None):
    """Return a threshold with a true negative rate of at least `wish`, half way to the next score; -infinity for 0."""
    if wish <= 0:
        return -np.inf
    highest = quantile(scores[~positive], wish, None if weights is None else weights[~positive])
    above = scores[scores > highest if weights is None else (scores > highest) & (weights > 0)]
    if len(above) == 0:
        return float(np.nextafter(highest, np.inf))
    threshold = float(0.5 * highest + 0.5 * above.min())
    return threshold if threshold > highest else float(above.min())


def for_precision(scores, positive, wish, weights=None):
    """Threshold of the largest sensitivity with a precision of at least `wish`; -infinity for a wish of 0.

    Raises
    ------
    ValueError
        If no threshold has that precision.
    """
    if wish <= 0:
        return -np.inf
    alarms, hits, distinct = _counted_vertices(scores, positive, weights)
    predicted = alarms + hits
    reached = np.flatnonzero(hits >= (wish - SAME) * predicted)
    reached = reached[hits[reached] > 0]
    if len(reached) == 0:
        best = np.max(hits / predicted)
        raise ValueError(f"no threshold has a precision of {wish}: the largest here is {best:.4g}")
    k = reached[np.argmax(hits[reached])]  # the first of these: the largest threshold
    return below_the_largest(distinct, k + 1)


def for_cost(scores, positive, cost, weights=None):
    """Largest threshold of least total cost; `cost` is that of a false positive and that of a false negative."""
    alarms, hits, distinct = _counted_vertices(scores, positive, weights)
    alarms, hits = np.append(0.0, alarms), np.append(0.0, hits)  # of the k largest distinct scores
    total = cost[0] * alarms + cost[1] * (hits[-1] - hits)
    rounding = SAME * (cost[0] * alarms[-1] + cost[1] * hits[-1])
    return below_the_largest(distinct, np.flatnonzero(total <= total.min() + rounding)[0])


def _counted_vertices(scores, positive, weights):
    if weights is not None and not np.all(weights > 0):
        counted = weights > 0
        scores, positive, weights = scores[counted], positive[counted], weights[counted]
    return roc_vertices(scores, positive, weights)


def below_the_largest(distinct, k):
    """Return the threshold that the `k` largest of the distinct scores reach, half way to the next.

    Just above all scores for k = 0, and the lowest for all.
    """
    if k == 0:
        return float(np.nextafter(distinct[0], np.inf))
    if k == len(distinct):
        return float(distinct[-1])
    middle = 0.5 * distinct[k - 1] + 0.5 * distinct[k]
    return float(middle if middle > distinct[k] else distinct[k - 1])


def quantile(values, share, weights):
    """Smallest value up to which at least that share of the weight lies."""
    if weights is None:
        rank = max(1, int(np.ceil((share - SAME) * len(values))))
        return float(np.partition(values, rank - 1)[rank - 1])
    values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order])
    place = np.searchsorted(cumulative, (share - SAME) * cumulative[-1], side="left")
    return float(values[order[min(place, len(order) - 1)]])
