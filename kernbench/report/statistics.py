"""What few repeats can say: means with their error, medians, and intervals only where there are enough."""

import math
from dataclasses import dataclass
from statistics import median

import numpy as np

MIN_REPEATS = 5  # below this, an interval or a test would be decoration
N_RESAMPLES = 2000


def finite(value):
    """Return `value` as a float, or None for anything that is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def finite_values(values):
    """The finite numbers among `values`, as floats."""
    return [number for number in map(finite, values) if number is not None]


def mean_and_error(values):
    """Mean and standard error of the mean.

    Parameters
    ----------
    values : iterable of float

    Returns
    -------
    mean : float or None
        None when there are no values.
    error : float or None
        Sample standard deviation / √n; None for fewer than two values.
    """
    values = finite_values(values)
    if not values:
        return None, None
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def median_or_none(values):
    """The median of the finite values, or None when there are none."""
    values = finite_values(values)
    return median(values) if values else None


def median_interval(values):
    """The 95 % percentile bootstrap interval of the median of at least two values."""
    values = np.asarray(finite_values(values))
    draws = np.median(np.random.default_rng(0).choice(values, (N_RESAMPLES, values.size)), axis=1)
    return tuple(float(end) for end in np.quantile(draws, (0.025, 0.975)))


@dataclass(frozen=True)
class Comparison:
    """Two samples side by side.

    Attributes
    ----------
    difference : float
        Median of the first minus median of the second.
    low, high : float
        95 % percentile bootstrap interval of `difference`.
    p_value : float
        Two-sided Mann–Whitney test.
    superiority : float
        The test's effect size: probability that a value of the first sample is below one of the second, ties
        counted ½.
    """

    difference: float
    low: float
    high: float
    p_value: float
    superiority: float


def compare(first, second):
    """Compare two samples, or return None when either has fewer than `MIN_REPEATS` values.

    Parameters
    ----------
    first, second : iterable of float

    Returns
    -------
    Comparison or None
    """
    first, second = (np.asarray(finite_values(sample)) for sample in (first, second))
    if min(first.size, second.size) < MIN_REPEATS:
        return None
    from scipy.stats import mannwhitneyu

    # A fixed seed: the same records must give the same report.
    rng = np.random.default_rng(0)
    draws = [
        np.median(rng.choice(sample, (N_RESAMPLES, sample.size), replace=True), axis=1)
        for sample in (first, second)
    ]
    low, high = np.quantile(draws[0] - draws[1], (0.025, 0.975))
    test = mannwhitneyu(first, second)
    return Comparison(
        difference=float(np.median(first) - np.median(second)),
        low=float(low),
        high=float(high),
        p_value=float(test.pvalue),
        superiority=1.0 - float(test.statistic) / (first.size * second.size),
    )
