"""Rows and targets of any size, drawn from formulas."""

import numpy as np

from kernbench.datasets.base import Dataset, array_checksum

DECIMALS = 9  # mathematics libraries may differ in later ones, which must not change the checksum
NOISE = 0.5  # standard deviation, beside scores of standard deviation 1


def draw(n, d, seed):
    """Standard normal rows, the first two columns of which determine noisy scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = (X[:, 0] + X[:, 1] + X[:, 0] * X[:, 1]) / 3**0.5 + NOISE * rng.standard_normal(n)
    return X.round(DECIMALS), scores.round(DECIMALS)


def load(n_rows, n_columns, seed=0):
    """The most rows of the fewest columns, as a data set without a test part; targets are the scores."""
    X, y = draw(n_rows, n_columns, seed)
    return Dataset(
        name="normal-rows",
        X_train=X,
        y_train=y,
        X_test=X[:0],
        y_test=y[:0],
        kind="generated",
        description=f"{n_rows} standard normal rows; the first two columns determine noisy scores",
        source="kernbench.experiments.ours.scaling.data",
        checksum=array_checksum(X, y),
    )
