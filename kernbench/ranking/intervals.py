"""Confidence intervals of areas under the ROC curve.

The area is a mean over pairs: its variance is that of the placements of the positives among the negatives over their
number, plus that of the negatives among the positives over theirs (DeLong, DeLong and Clarke-Pearson, Biometrics 44,
1988). Placements are ranks, so that a sort is all it takes (Sun and Xu, IEEE Signal Proc. Letters 21, 2014).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from kernbench.ranking._roc import placements


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
        Of the hypothesis that both areas are equal, two-sided.
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
        means.append(mine.mean())
        mine -= means[-1]
        variance += mine @ mine / (len(mine) - 1.0) / len(mine)
    return means, float(np.sqrt(variance))


def placement_shares(score, positive):
    """Return the placements as shares of the other class."""
    n_positive = np.count_nonzero(positive)
    shares = placements(score, positive)
    shares *= np.where(positive, 1.0 / (len(positive) - n_positive), 1.0 / n_positive)
    return shares


def delong_interval(score, positive, confidence):
    """Return the `AUCInterval` of the whole area, symmetric in log(auc / (1 - auc))."""
    means, error = shares_and_error(placement_shares(score, positive), positive)
    area, z = float(np.clip(means[0], 0.0, 1.0)), float(ndtri(0.5 + 0.5 * confidence))
    if 0.0 < area < 1.0:
        reach = z * error / (area * (1.0 - area))
        low, high = (float(expit(logit(area) + sign * reach)) for sign in (-1, 1))
    else:
        # The estimated variance is 0. Disjoint pairs are independent, and all are ranked alike: the exact binomial
        # bound of that many.
        n_pairs = min(np.count_nonzero(positive), np.count_nonzero(~positive))
        bound = (0.5 - 0.5 * confidence) ** (1.0 / n_pairs)
        low, high = (bound, 1.0) if area == 1.0 else (0.0, 1.0 - bound)
    return AUCInterval(area, min(low, area), max(high, area), error, confidence)


def delong_difference(first, second, positive, confidence):
    """Return the `AUCDifference` of two scores of the same samples."""
    shares = placement_shares(first, positive)
    shares -= placement_shares(second, positive)
    means, error = shares_and_error(shares, positive)
    difference, z = float(means[0]), float(ndtri(0.5 + 0.5 * confidence))
    if error > 0:
        p_value = float(2.0 * ndtr(-abs(difference) / error))
    else:
        p_value = 1.0 if difference == 0 else 0.0
    low, high = (float(np.clip(difference + sign * z * error, -1.0, 1.0)) for sign in (-1, 1))
    return AUCDifference(difference, low, high, error, p_value, confidence)


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
    classes, areas = [np.flatnonzero(positive), np.flatnonzero(~positive)], np.empty(n_resamples)
    weights = np.empty(len(positive))
    for k in range(n_resamples):
        for members in classes:
            weights[members] = np.bincount(
                rng.integers(len(members), size=len(members)), minlength=len(members)
            )
        areas[k] = area_of(weights)
    area, tail = float(area_of(None)), 0.5 - 0.5 * confidence
    low, high = (float(np.quantile(areas, share)) for share in (tail, 1.0 - tail))
    return AUCInterval(area, min(low, area), max(high, area), float(areas.std(ddof=1)), confidence)
