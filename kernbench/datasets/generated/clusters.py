"""Gaussian clusters in a low-dimensional subspace: large sets of any number of rows and features."""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS_FLOAT32, generated_entry
from kernbench.validation.numbers import check_number

# Rows drawn at a time: a few megabytes at a hundred features. Changing it changes the data.
CHUNK_ROWS = 16_384
N_CLUSTERS, N_DIRECTIONS = 16, 6
RADIUS = 3.0  # of the centres' sphere; the noise has variance 1 in every direction
MISLABELLED = 0.05


def clusters_large(n, rng, *, n_features=28):
    """Sixteen Gaussian clusters, alternately -1 and +1, with centres on a sphere in the first six dimensions.

    Float32, drawn in chunks, for millions of rows. The centres are the same for all seeds; 5 % of the labels are
    flipped. Linear classifiers do poorly; a Gaussian kernel of suitable width does well.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=28
        At least 6; all from the seventh on are noise.

    Returns
    -------
    X : ndarray of shape (n, n_features), float32
    y : ndarray of shape (n,)
        -1 and +1, int64; about half of each.
    """
    check_number("n_features", n_features, at_least=N_DIRECTIONS, whole=True)
    centres = np.random.default_rng(0).standard_normal((N_CLUSTERS, N_DIRECTIONS))
    centres *= RADIUS / np.linalg.norm(centres, axis=1, keepdims=True)
    centres = centres.astype(np.float32)
    X = np.empty((n, n_features), dtype=np.float32)
    y = np.empty(n, dtype=np.int64)
    for start in range(0, n, CHUNK_ROWS):
        rows = X[start : start + CHUNK_ROWS]
        rng.standard_normal(dtype=np.float32, out=rows)
        cluster = rng.integers(N_CLUSTERS, size=len(rows))
        rows[:, :N_DIRECTIONS] += centres[cluster]
        rows.round(DECIMALS_FLOAT32, out=rows)
        label = np.where(cluster % 2 == 1, 1, -1)
        y[start : start + CHUNK_ROWS] = np.where(rng.random(len(rows)) < MISLABELLED, -label, label)
    return X, y


ENTRIES = (
    generated_entry(
        clusters_large,
        "Sixteen clusters in six of many directions, two classes, 5% mislabelled, float32, drawn in chunks for "
        "millions of rows.",
        n_train=100_000,
        n_test=20_000,
        n_features=28,
        layout="dense float32",
        positive="50%",
        common_test=True,
    ),
)
