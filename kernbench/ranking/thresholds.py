"""Thresholds for a wished sensitivity or specificity, under the rule "positive if score >= threshold"."""

import numpy as np

SAME = 1e-12  # share of a class that rounding of wish * weight may cost


def for_sensitivity(scores, positive, wish, weights=None):
    """Largest threshold with a true positive rate of at least `wish`; infinity for a wish of 0."""
    if wish <= 0:
        return np.inf
    return -quantile(-scores[positive], wish, None if weights is None else weights[positive])


def for_specificity(scores, positive, wish, weights=None):
    """Threshold with a true negative rate of at least `wish`, half way to the next score; -infinity for 0."""
    if wish <= 0:
        return -np.inf
    highest = quantile(scores[~positive], wish, None if weights is None else weights[~positive])
    above = scores[scores > highest if weights is None else (scores > highest) & (weights > 0)]
    if len(above) == 0:
        return float(np.nextafter(highest, np.inf))
    threshold = float(0.5 * highest + 0.5 * above.min())
    return threshold if threshold > highest else float(above.min())


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
