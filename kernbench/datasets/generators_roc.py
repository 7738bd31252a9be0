"""Sets with a known population AUC, after Bae and Shin, "Scaling Up ROC-Optimizing Support Vector Machines".

Features are independent standard normals and ``y = sign(alpha + f(x) + eps)`` with ``eps`` standard normal,
so ``f`` is the best score there is. `alpha` makes 20 % of the population positive. It and the AUC of `f` are
integrals over the distribution of ``s = f(x)``, here solved once: with the density `g` of `s` and the normal
distribution function `Phi`,

    P(y = +1) = integral of g(s) Phi(alpha + s) ds = 0.2,
    AUC = integral of g(s) Phi(alpha + s) [integral up to s of g(t) Phi(-alpha - t) dt] ds / (0.2 · 0.8).

The paper prints 0.90377 and 0.90985 for its populations; no `alpha` with 20 % positives gives these.
"""

import numpy as np

from kernbench.datasets.checks import require_number
from kernbench.datasets.entry import generated
from kernbench.datasets.generators import DECIMALS

LINEAR_INTERCEPT = -1.457731  # s is normal with variance 2
LINEAR_AUC = 0.908088
RADIAL_INTERCEPT = -3.468500  # s is chi-squared with 2 degrees of freedom
RADIAL_AUC = 0.964708

# Rows of `roc_large` drawn at a time: a few megabytes, whatever the size of the set. Another number would
# draw another set.
CHUNK_ROWS = 65_536
DECIMALS_FLOAT32 = 6


def roc_linear(n, rng, *, n_features=2):
    """``f(x) = x_0 + x_1``: a linear score is best, and its AUC is 0.908088.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=2
        Features from the third on are noise. They are drawn last: the others and the labels are the same
        whatever their number.

    Returns
    -------
    X : ndarray of shape (n, n_features), float64
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    return _drawn(n, rng, n_features, LINEAR_INTERCEPT, lambda x: x[:, 0] + x[:, 1])


def roc_radial(n, rng, *, n_features=2):
    """``f(x) = x_0² + x_1²``: a radial score is best, and its AUC is 0.964708.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=2
        Features from the third on are noise, as in `roc_linear`.

    Returns
    -------
    X : ndarray of shape (n, n_features), float64
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    return _drawn(n, rng, n_features, RADIAL_INTERCEPT, lambda x: x[:, 0] ** 2 + x[:, 1] ** 2)


def _drawn(n, rng, n_features, intercept, score):
    require_number("n_features", n_features, at_least=2, whole=True)
    signal = rng.standard_normal((n, 2))
    y = _signs(intercept + score(signal) + rng.standard_normal(n))
    noise = rng.standard_normal((n, n_features - 2))
    return np.hstack([signal, noise]).round(DECIMALS), y


def roc_large(n, rng, *, n_features=20):
    """A linear score of all features, drawn in chunks as float32, for millions of rows.

    ``f(x) = Σ_j w_j x_j`` with ``w_j`` proportional to ``(-1)^j / (j + 1)`` and ``Σ_j w_j² = 2``, so `f` has
    the distribution of `roc_linear`'s, and the same population AUC, whatever the number of features.

    Parameters
    ----------
    n : int
        Ten million rows of ten features take 400 MB, their labels 80 MB, and hardly more to draw them.
    rng : numpy.random.Generator
    n_features : int, default=20

    Returns
    -------
    X : ndarray of shape (n, n_features), float32
    y : ndarray of shape (n,)
        -1 and +1, int64; about 20 % are +1.
    """
    require_number("n_features", n_features, at_least=1, whole=True)
    weights = large_weights(n_features).astype(np.float32)
    X = np.empty((n, n_features), dtype=np.float32)
    y = np.empty(n, dtype=np.int64)
    for start in range(0, n, CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        rng.standard_normal(dtype=np.float32, out=rows)
        rows.round(DECIMALS_FLOAT32, out=rows)
        score = rng.standard_normal(len(rows), dtype=np.float32)
        score += np.float32(LINEAR_INTERCEPT)
        # Column by column: a BLAS product adds up in another order on another machine, and flips labels.
        for j, weight in enumerate(weights):
            score += weight * rows[:, j]
        y[start : start + CHUNK_ROWS] = _signs(score)
    return X, y


def large_weights(n_features):
    """The weights of `roc_large`: ``f(x) = X @ weights``."""
    j = np.arange(n_features)
    weights = (-1.0) ** j / (j + 1)
    return weights * np.sqrt(2 / (weights @ weights))


def _signs(score):
    return np.where(score > 0, np.int64(1), np.int64(-1))


ENTRIES = (
    generated(
        "roc-linear",
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
    generated(
        "roc-radial",
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
    generated(
        "roc-large",
        roc_large,
        "Linear truth over all features, float32, drawn in chunks for millions of rows; population AUC "
        "0.908088.",
        n_train=1_000_000,
        n_test=100_000,
        n_features=20,
        layout="dense float32",
        positive="about 20%",
        population_auc=LINEAR_AUC,
        common_test=True,
    ),
)
