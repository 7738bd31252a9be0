"""Generated rows of two classes: a logistic regression is the right model of them, or wrong by a chosen amount."""

import numpy as np

from kernbench.datasets.base import Dataset, array_checksum

N_FEATURES = 10
SHIFT = 2.5  # of the positives along the first column
HARD = 0.15  # share of the negatives on one side of the positives along the second column; the others are on the other
DECIMALS = 9  # mathematics libraries may differ in later ones, which must not change the checksum


def draw(n_positive, n_negative, misspecification, rng):
    """Return rows and labels, -1 or +1.

    All groups are normal with equal covariances. Along the first column positives are `SHIFT` from all negatives. Along
    the second they lie between two groups of negatives, each `misspecification` away. A logistic regression turns away
    from the larger group and thus towards the smaller one, a share `HARD`, which then makes up the false positives of a
    small rate. With 0 there is one group, and the logistic regression is the right model.
    """
    X = rng.standard_normal((n_positive + n_negative, N_FEATURES))
    X[:n_positive, 0] += SHIFT
    side = np.where(rng.random(n_negative) < HARD, 1.0, -1.0)
    X[n_positive:, 1] += misspecification * side
    return X.round(DECIMALS), np.repeat([1, -1], [n_positive, n_negative])


def load_rows(misspecification, n_test, seed=0):
    """The test rows of a cell, one in eleven positive, as a data set; training rows are drawn fit by fit."""
    X, y = draw(n_test // 11, n_test - n_test // 11, misspecification, np.random.default_rng([seed, 1]))
    return Dataset(
        name="two-sided-negatives",
        X_train=X[:0],
        y_train=y[:0],
        X_test=X,
        y_test=y,
        kind="synthetic",
        description=f"Normal rows; negatives on both sides of the positives, {misspecification} away.",
        source="generated",
        checksum=array_checksum(X, y),
    )
