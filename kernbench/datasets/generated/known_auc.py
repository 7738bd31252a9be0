"""Sets with a known population AUC, after Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines".

Features are independent standard normals and ``y = sign(alpha + f(x) + eps)`` with ``eps`` standard normal,
so ``f`` is an optimal score. `alpha` makes 20 % of the population positive. With the density `g` of ``s = f(x)``
and the standard normal distribution function `Phi`, `alpha` and the AUC of `f` satisfy

    P(y = +1) = integral of g(s) Phi(alpha + s) ds = 0.2,
    AUC = integral of g(s) Phi(alpha + s) [integral up to s of g(t) Phi(-alpha - t) dt] ds / (0.2 · 0.8).

The constants below are their numerical solutions. The paper reports 0.90377 and 0.90985, which no `alpha` with 20 %
positives gives.
"""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS, DECIMALS_FLOAT32, generated_entry
from kernbench.validation.numbers import check_number

LINEAR_INTERCEPT = -1.457731  # s is normal with variance 2
LINEAR_AUC = 0.908088
RADIAL_INTERCEPT = -3.468500  # s is chi-squared with 2 degrees of freedom
RADIAL_AUC = 0.964708

# Rows of `roc_large` drawn at a time: a few megabytes. Changing it changes the data.
CHUNK_ROWS = 65_536


def roc_linear(n, rng, *, n_features=2):
    """``f(x) = x_0 + x_1``: a linear score is optimal, with AUC 0.908088.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=2
        All features from the third on are noise. They are drawn last, so that their number does not change the
        first two and the labels.

    Returns
    -------
    X : ndarray of shape (n, n_features), float64
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    return _drawn(n, rng, n_features, LINEAR_INTERCEPT, lambda x: x[:, 0] + x[:, 1])


def roc_radial(n, rng, *, n_features=2):
    """``f(x) = x_0² + x_1²``: a radial score is optimal, with AUC 0.964708.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=2
        As in `roc_linear`.

    Returns
    -------
    X : ndarray of shape (n, n_features), float64
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    return _drawn(n, rng, n_features, RADIAL_INTERCEPT, lambda x: x[:, 0] ** 2 + x[:, 1] ** 2)


def _drawn(n, rng, n_features, intercept, score):
    check_number("n_features", n_features, at_least=2, whole=True)
    signal = rng.standard_normal((n, 2))
    y = _signs(intercept + score(signal) + rng.standard_normal(n))
    noise = rng.standard_normal((n, n_features - 2))
    return np.hstack([signal, noise]).round(DECIMALS), y


def roc_large(n, rng, *, n_features=20):
    """A linear score of all features, drawn in chunks as float32, for millions of rows.

    ``f(x) = Σ_j w_j x_j`` with ``w_j`` proportional to ``(-1)^j / (j + 1)`` and ``Σ_j w_j² = 2``, so that
    `f` has the same distribution, and the same population AUC, as that of `roc_linear`, for any number of features.

    Parameters
    ----------
    n : int
        Ten million rows of ten features take 400 MB and their labels 80 MB; temporary arrays are small.
    rng : numpy.random.Generator
    n_features : int, default=20

    Returns
    -------
    X : ndarray of shape (n, n_features), float32
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    check_number("n_features", n_features, at_least=1, whole=True)
    weights = large_weights(n_features).astype(np.float32)
    X = np.empty((n, n_features), dtype=np.float32)
    y = np.empty(n, dtype=np.int64)
    for start in range(0, n, CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        rng.standard_normal(dtype=np.float32, out=rows)
        rows.round(DECIMALS_FLOAT32, out=rows)
        score = rng.standard_normal(len(rows), dtype=np.float32)
        score += np.float32(LINEAR_INTERCEPT)
        # Column by column: the order of summation in BLAS depends on the machine, and changes labels.
        for j, weight in enumerate(weights):
            score += weight * rows[:, j]
        y[start : start + CHUNK_ROWS] = _signs(score)
    return X, y


def large_weights(n_features):
    """Return the weights of `roc_large`: ``f(x) = X @ weights``."""
    j = np.arange(n_features)
    weights = (-1.0) ** j / (j + 1)
    return weights * np.sqrt(2 / (weights @ weights))


def _signs(score):
    return np.where(score > 0, np.int64(1), np.int64(-1))


ENTRIES = (
    generated_entry(
        roc_linear,
        "Linear truth of the ROC-SVM paper: normal features, +1 where x_0 + x_1 plus noise is large; "
        "population AUC 0.908088.",
        n_train=5_000,
        n_test=25_000,
        n_features=2,
        layout="dense float64",
        positive="about 20%",
        population_auc=LINEAR_AUC,
        common_test=True,
    ),
    generated_entry(
        roc_radial,
        "Radial truth of the ROC-SVM paper: normal features, +1 where x_0² + x_1² plus noise is large; "
        "population AUC 0.964708.",
        n_train=5_000,
        n_test=25_000,
        n_features=2,
        layout="dense float64",
        positive="about 20%",
        population_auc=RADIAL_AUC,
        common_test=True,
    ),
    generated_entry(
        roc_large,
        "Linear truth over all features, float32, drawn in chunks for millions of rows; population AUC 0.908088.",
        n_train=1_000_000,
        n_test=100_000,
        n_features=20,
        layout="dense float32",
        positive="about 20%",
        population_auc=LINEAR_AUC,
        common_test=True,
    ),
)
