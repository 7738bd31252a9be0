"""Confidence intervals of areas under the ROC curve.

The area is a mean over pairs: its variance is that of the placements of the positives among the negatives over their
number, plus that of the negatives among the positives over theirs (DeLong, DeLong and Clarke-Pearson, Biometrics 44,
1988). Placements are ranks, so that a sort is all it takes (Sun and Xu, IEEE Signal Proc. Letters 21, 2014).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from kernbench.pairs._roc import placements


@dataclass(frozen=True)
class AUCInterval:
    """An area under the ROC curve with its confidence interval.

    Attributes
    ----------
    auc : float
    low, high : float
        Within [0, 1].
    standard_error : float
    confidence : float
    """

    auc: float
    low: float
    high: float
    standard_error: float
    confidence: float


@dataclass(frozen=True)
class AUCDifference:
    """The difference of two areas under the ROC curve, of two scores of the same samples.

    Attributes
    ----------
    difference : float
        The first area minus the second.
    low, high : float
        Confidence interval, within [-1, 1].
    standard_error : float
    p_value : float
        Two-sided p-value of the hypothesis that both areas are equal.
    confidence : float
    """

    difference: float
    low: float
    high: float
    standard_error: float
    p_value: float
    confidence: float


def shares_and_error(values, positive):
    """Return the means of the placements, by class, and the standard error of the area they stand for.

    `values` are placements as shares of the other class, or differences of two of them.
    """
    variance, means = 0.0, []
    for members in (positive, ~positive):
        mine = np.compress(members, values)
        means.append(mine.mean() if np.ptp(mine) > 0 else mine[0])  # rounding may not make a variance of equal values
        mine -= means[-1]
        variance += mine @ mine / (len(mine) - 1.0) / len(mine)
    return means, float(np.sqrt(variance))


def as_shares(counts, positive):
    """Divide placements, or differences of them, by the size of the other class, in place."""
    n_positive = np.count_nonzero(positive)
    counts /= np.where(positive, len(positive) - n_positive, n_positive)
    return counts


def delong_interval(score, positive, confidence):
    """Return the `AUCInterval` of the whole area, symmetric in log(auc / (1 - auc))."""
    means, error = shares_and_error(as_shares(placements(score, positive), positive), positive)
    area, z = float(np.clip(means[0], 0.0, 1.0)), float(ndtri(0.5 + 0.5 * confidence))
    if 0.0 < area < 1.0:
        reach = z * error / (area * (1.0 - area))
        low, high = (float(expit(logit(area) + sign * reach)) for sign in (-1, 1))
    else:
        bound = _least_share(positive, confidence)
        low, high = (bound, 1.0) if area == 1.0 else (0.0, 1.0 - bound)
    return AUCInterval(area, min(low, area), max(high, area), error, float(confidence))


def _least_share(positive, confidence):
    """Return the exact binomial bound of the share of pairs of which all that are seen are; disjoint pairs are
    independent."""
    return float((0.5 - 0.5 * confidence) ** (1.0 / _disjoint_pairs(positive)))


def _disjoint_pairs(positive):
    return min(np.count_nonzero(positive), np.count_nonzero(~positive))


def delong_difference(first, second, positive, confidence):
    """Return the `AUCDifference` of two scores of the same samples."""
    differences = placements(first, positive)
    differences -= placements(second, positive)  # of halves, exact: equal ones stay equal as shares
    means, error = shares_and_error(as_shares(differences, positive), positive)
    difference, z = float(means[0]), float(ndtri(0.5 + 0.5 * confidence))
    low, high = (float(np.clip(difference + sign * z * error, -1.0, 1.0)) for sign in (-1, 1))
    if error > 0:
        p_value = float(2.0 * ndtr(-abs(difference) / error))
    elif difference == 0:
        p_value = 1.0
    else:  # all pairs differ by this much: the sign test of disjoint ones, and pairs not seen may differ by 1 otherwise
        p_value = float(2.0 ** (1 - _disjoint_pairs(positive)))
        share = _least_share(positive, confidence)
        low, high = share * difference + (1.0 - share) * np.array([-1.0, 1.0])
        low, high = (float(low), difference) if difference > 0 else (difference, float(high))
    return AUCDifference(difference, low, high, error, p_value, float(confidence))


def bootstrap_interval(area_of, positive, confidence, n_resamples, rng):
    """Return the `AUCInterval` between percentiles of resampled areas, each class drawn from itself.

    Parameters
    ----------
    area_of : callable
        Computes an area from sample weights; None for the samples as they are.
    positive : ndarray of shape (n,), bool
    confidence : float
    n_resamples : int
    rng : numpy.random.Generator
    """
    areas = np.array([area_of(weights) for weights in resamples(positive, n_resamples, rng)])
    area, tail = float(area_of(None)), 0.5 - 0.5 * confidence
    low, high = (float(np.quantile(areas, share)) for share in (tail, 1.0 - tail))
    return AUCInterval(area, min(low, area), max(high, area), float(areas.std(ddof=1)), float(confidence))


def bootstrap_band(curve_of, positive, confidence, n_resamples, rng):
    """Return the lower and the upper end of a pointwise band between percentiles of resampled curves.

    `curve_of` computes the heights of a curve, an array, from sample weights; the rest is as for `bootstrap_interval`.
    """
    curves = np.array([curve_of(weights) for weights in resamples(positive, n_resamples, rng)])
    tail = 0.5 - 0.5 * confidence
    low, high = np.quantile(curves, [tail, 1.0 - tail], axis=0)
    return low, high


def resamples(positive, n_resamples, rng):
    """Yield the weights of bootstrap samples, each class drawn from itself; the same array each time, overwritten."""
    classes, weights = [np.flatnonzero(positive), np.flatnonzero(~positive)], np.empty(len(positive))
    for _ in range(n_resamples):
        for members in classes:
            weights[members] = np.bincount(rng.integers(len(members), size=len(members)), minlength=len(members))
        yield weights
