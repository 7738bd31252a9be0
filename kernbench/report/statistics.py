"""Statistics over repeats: means with their standard error, medians, and intervals if there are enough repeats."""

import math
import sys
from dataclasses import dataclass
from statistics import median

import numpy as np

MIN_REPEATS = 5  # with fewer, a bootstrap interval or a rank test is not informative
N_RESAMPLES = 2000
NOISY_SPREAD = 0.25  # distance of the quartiles, as a share of the median, from which a sample is noisy
MIN_QUARTILES = 3  # values
LARGEST_LOG = math.log(sys.float_info.max)
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
    # In units of a power of two, which rounds nothing: sums and squares of a method that diverged would overflow.
    _, power = math.frexp(max(map(abs, values)))
    shares = [math.ldexp(value, -power) for value in values]
    mean = math.fsum(shares) / len(shares)
    variance = math.fsum((share - mean) ** 2 for share in shares) / (len(shares) - 1)
    return math.ldexp(mean, power), math.ldexp(math.sqrt(variance / len(shares)), power)


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


@dataclass(frozen=True)
class Estimate:
    """A mean over repeats with the interval and the p-value of one test, Student's t.

    Attributes
    ----------
    value : float
    interval : (float, float) or None
        95 % confidence interval; None for a single value.
    p_value : float or None
        Two-sided, that the true mean is the limit; None where there is no test.
    is_geometric : bool
        Whether the test is on logarithms, and `value` the geometric mean.
    """

    value: float
    interval: tuple[float, float] | None
    p_value: float | None
    is_geometric: bool = False


def estimate(values, limit, *, has_chance=True, rounding=0.0):
    """The mean of values by Student's t test that the true one is `limit`.

    A few results on a small test set often coincide. Student's t test would take them for values without scatter, and
    two of them for proof; so n equal values have the p-value of the sign test, 2 · 2⁻ⁿ.

    Parameters
    ----------
    values : list of float
        At least one.
    limit : float
    has_chance : bool, default=True
        Whether another repeat might have given another value. Equal values without chance need no test.
    rounding : float, default=0.0
        Difference up to which values count as equal.

    Returns
    -------
    Estimate
    """
    mean, error = mean_and_error(values)
    if not error or max(values) - min(values) <= rounding:
        p_value = sign_test(len(values)) if has_chance and len(values) > 1 else None
    else:
        from scipy.special import stdtr

        p_value = 2.0 * float(stdtr(len(values) - 1, -abs(mean - limit) / error))
    return Estimate(mean, mean_interval(values), p_value)


def sign_test(n):
    """The two-sided p-value of the sign test on n values that are all on one side."""
    return 2.0 ** (1 - n)


def estimate_of_ratios(values, limit, *, has_chance=True, rounding=0.0):
    """The geometric mean of ratios, by `estimate` on their logarithms; their mean, unless all are positive.

    `rounding` is a share of a ratio.
    """
    if limit <= 0 or min(values) <= 0:
        return estimate(values, limit, has_chance=has_chance, rounding=rounding * max(map(abs, values)))
    found = estimate(list(map(math.log, values)), math.log(limit), has_chance=has_chance, rounding=rounding)
    ends = found.interval and tuple(math.exp(end) if end < LARGEST_LOG else math.inf for end in found.interval)
    return Estimate(geometric_mean(values), ends, found.p_value, is_geometric=True)


def geometric_mean(values):
    """The geometric mean of positive values, at least one."""
    if min(values) == max(values):  # from which the exponential of their logarithm may differ in the last digit
        return values[0]
    return math.exp(mean_and_error([math.log(value) for value in values])[0])


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
