"""Statistics over repeats: means with their standard error, medians, and intervals if there are enough repeats."""

import math
from dataclasses import dataclass
from statistics import median

import numpy as np

MIN_REPEATS = 5  # with fewer, a bootstrap interval or a rank test is not informative
N_RESAMPLES = 2000
NOISY_SPREAD = 0.25  # distance of the quartiles, as a share of the median, from which a sample is noisy
MIN_QUARTILES = 3  # values
EXACT_SIZE = 60  # of both samples of a rank test, up to which its distribution is enumerated


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
    if min(values) == max(values):  # whose mean, computed, may differ from them in the last digit
        return values[0], None if len(values) < 2 else 0.0
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def median_or_none(values):
    """The median of the finite values, or None when there are none."""
    values = finite_values(values)
    return median(values) if values else None


def spread(values):
    """The distance of the quartiles as a share of the median."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return float((high - low) / abs(middle)) if middle else 0.0


def is_noisy(values):
    """Whether three or more values lie so far apart that their median says little."""
    values = finite_values(values)
    return len(values) >= MIN_QUARTILES and spread(values) >= NOISY_SPREAD


def median_interval(values):
    """The 95 % percentile bootstrap interval of the median of at least two values."""
    return _interval((finite_values(values),), np.median)


def mean_interval(values):
    """The 95 % interval of the mean by Student's t; None for fewer than two values."""
    mean, error = mean_and_error(values)
    if error is None:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(len(finite_values(values)) - 1, 0.975)) * error
    return mean - half, mean + half


def p_value_at(values, limit):
    """The two-sided p-value of Student's t test that the mean of `values` is `limit`.

    None for fewer than two values; 0 for equal ones, which chance does not move.
    """
    mean, error = mean_and_error(values)
    if error is None:
        return None
    if error == 0.0:
        return 0.0
    from scipy.special import stdtr

    return 2.0 * float(stdtr(len(finite_values(values)) - 1, -abs(mean - limit) / error))


def p_value_of_ratios(values, limit):
    """The p-value of `p_value_at` for positive values that are compared as ratios, on their logarithms."""
    if limit <= 0 or min(values) <= 0:
        return p_value_at(values, limit)
    return p_value_at([math.log(value) for value in values], math.log(limit))


def median_scatter(values):
    """How far the median is known: its bootstrap interval, the range of few values, or None for a single one.

    The range of four values has the true median inside in 88 % of all samples, that of two in half of them.
    """
    if len(values) < 2:
        return None
    return (min(values), max(values)) if len(values) < MIN_REPEATS else median_interval(values)


def _interval(samples, statistic):
    from scipy.stats import bootstrap

    # A fixed seed: the same records must give the same report.
    generator = np.random.default_rng(0)
    settings = {"n_resamples": N_RESAMPLES, "method": "percentile", "random_state": generator}
    found = bootstrap(samples, statistic, vectorized=True, **settings).confidence_interval
    return float(found.low), float(found.high)


def _difference_of_medians(first, second, axis):
    return np.median(first, axis=axis) - np.median(second, axis=axis)


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
    least_p_value : float
        The smallest that so many values can give.
    """

    difference: float
    low: float
    high: float
    p_value: float
    superiority: float
    least_p_value: float


def compare(first, second):
    """Compare two samples, or return None when either has fewer than `MIN_REPEATS` values.

    Returns
    -------
    Comparison or None
    """
    first, second = (np.asarray(finite_values(sample)) for sample in (first, second))
    if min(first.size, second.size) < MIN_REPEATS:
        return None
    from scipy.stats import mannwhitneyu

    low, high = _interval((first, second), _difference_of_medians)
    both, n = np.concatenate([first, second]), first.size
    # Exact where it is: with ties, and where it would take long, the normal approximation.
    is_exact = len(np.unique(both)) == both.size and both.size <= EXACT_SIZE
    test = mannwhitneyu(first, second, method="exact" if is_exact else "asymptotic")
    return Comparison(
        difference=float(np.median(first) - np.median(second)),
        low=low,
        high=high,
        p_value=float(test.pvalue) if np.ptp(both) > 0 else 1.0,  # NaN of equal values, from SciPy 1.18 on
        superiority=1.0 - float(test.statistic) / (first.size * second.size),
        least_p_value=2.0 / math.comb(both.size, n),
    )


def compare_pairs(pairs):
    """Compare two samples whose values belong together, by Wilcoxon's signed-rank test.

    Parameters
    ----------
    pairs : list of (float, float)

    Returns
    -------
    Comparison
        Its difference and interval are those of the median of the differences.
    """
    from scipy.stats import wilcoxon

    first, second = np.transpose(pairs)
    differences = first - second
    least = 2.0 ** (1 - np.count_nonzero(differences))
    if not differences.any():
        return Comparison(0.0, 0.0, 0.0, 1.0, 0.5, least)
    low, high = median_interval(differences.tolist())
    p_value = float(wilcoxon(differences).pvalue)
    below = float(np.mean(differences < 0) + np.mean(differences == 0) / 2)
    return Comparison(float(np.median(differences)), low, high, p_value, below, least)


def holm(p_values):
    """Correct p-values for their number, by Holm's step-down method.

    Returns
    -------
    list of float
        In the same order; rejecting those below a level keeps the probability of any false rejection below it.
    """
    n = len(p_values)
    order = sorted(range(n), key=p_values.__getitem__)
    corrected, largest = [0.0] * n, 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (n - rank) * p_values[k]))
        corrected[k] = largest
    return corrected
