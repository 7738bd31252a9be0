"""Stand-ins for two data sets of regression: of the same shape, drawn from formulas without published data."""

import numpy as np
from scipy.special import expit

from kernbench.datasets.generated.common import DECIMALS, RULE_SEED, generated_entry
from kernbench.validation.numbers import check_number

N_LOADS, N_COUNTERS = 3, 12
N_AVERAGES = 12


def cpu_small_like(n, rng, *, noise=0.1):
    """A generated stand-in for CPU-small: the idle share of a machine from twelve counters of its activity.

    Three latent loads drive twelve correlated counters, standardised logarithms. The target, of mean 0 and standard
    deviation about 1, saturates where the machine is busy or idle, as the published one does, and depends on a product
    of two loads, so that no linear function represents it.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=0.1
        Standard deviation of the noise of the target.

    Returns
    -------
    X : ndarray of shape (n, 12), float64
    y : ndarray of shape (n,), float64
    """
    check_number("noise", noise, at_least=0)
    mixing = np.random.default_rng(RULE_SEED).standard_normal((N_LOADS, N_COUNTERS))
    mixing /= np.linalg.norm(mixing, axis=0)
    loads = rng.standard_normal((n, N_LOADS))
    X = np.sqrt(0.9) * loads @ mixing + np.sqrt(0.1) * rng.standard_normal((n, N_COUNTERS))
    busy = 2.0 * loads[:, 0] + loads[:, 1] + 1.5 * loads[:, 1] * loads[:, 2]
    y = 3.0 * (0.5 - expit(busy)) + noise * rng.standard_normal(n)
    return X.round(DECIMALS), y.round(DECIMALS)


def year_like(n, rng, *, noise=3.0):
    """A generated stand-in for YearPredictionMSD: the year of a song from 12 averages of timbre and 78 covariances.

    The target, of mean 0 and standard deviation 1, has the long tail of old songs. Each average is a saturating
    function of it, with `noise`; the other columns are products of two averages each. About half of the variance of the
    target can be predicted.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=3.0
        Standard deviation of the noise of an average.

    Returns
    -------
    X : ndarray of shape (n, 90), float64
    y : ndarray of shape (n,), float64
    """
    check_number("noise", noise, at_least=0)
    shift, scale = np.random.default_rng(RULE_SEED).uniform(-1.0, 1.0, (2, N_AVERAGES))
    y = 1.0 - rng.standard_exponential(n)
    averages = 3.0 * np.tanh(np.outer(y, scale) + shift) + noise * rng.standard_normal((n, N_AVERAGES))
    averages /= np.hypot(3.0, noise)
    first, second = np.triu_indices(N_AVERAGES)
    X = np.hstack([averages, averages[:, first] * averages[:, second]])
    return X.round(DECIMALS), y.round(DECIMALS)


ENTRIES = (
    generated_entry(
        cpu_small_like,
        "A stand-in for CPU-small: twelve counters of activity and the idle share of a machine, a regression.",
        n_train=6554,
        n_test=1638,
        n_features=N_COUNTERS,
        task="regression",
    ),
    generated_entry(
        year_like,
        "A stand-in for YearPredictionMSD: 90 columns of timbre and the year of a song, a regression.",
        n_train=20_000,
        n_test=5000,
        n_features=N_AVERAGES + N_AVERAGES * (N_AVERAGES + 1) // 2,
        task="regression",
    ),
)
