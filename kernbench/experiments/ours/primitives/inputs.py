"""Rows drawn from formulas: points, a ball, histograms, uneven clusters."""

import numpy as np

from kernbench._names import unknown_name
from kernbench.datasets.base import Dataset, array_checksum

DECIMALS = 9  # mathematics libraries may differ in later ones, which must not change the checksum
EMPTY = 0.1  # share of a histogram's bins that hold nothing
N_CLUSTERS = 30


def _points(rng, n, d):
    return rng.standard_normal((n, d)), np.ones(n)


def _ball(rng, n, d):
    X = rng.standard_normal((n, d))
    return X * (rng.random((n, 1)) ** (1.0 / d) / np.linalg.norm(X, axis=1, keepdims=True)), np.ones(n)


def _histograms(rng, n, d):
    X = rng.gamma(0.5, size=(n, d)) * (rng.random((n, d)) >= EMPTY)
    X[:, 0] += 1e-6  # no row is empty
    return X / X.sum(axis=1, keepdims=True), np.ones(n)


def _clusters(rng, n, d):
    """Cluster k has a share of the rows that falls like 1/k; the ten rarest are the positive class."""
    shares = 1.0 / np.arange(1, N_CLUSTERS + 1)
    member = rng.choice(N_CLUSTERS, size=n, p=shares / shares.sum())
    centres = 2.0 * rng.standard_normal((N_CLUSTERS, d))
    X = centres[member] + 0.35 * rng.standard_normal((n, d))
    return X, np.where(member >= N_CLUSTERS - 10, 1.0, -1.0)


KINDS = {
    "points": (_points, "standard normal points"),
    "ball": (_ball, "points uniform in the unit ball"),
    "histograms": (_histograms, "histograms that sum to 1, a tenth of the bins empty"),
    "clusters": (_clusters, "30 clusters of uneven sizes, the ten rarest labelled +1"),
}


def rows(kind, n, d, seed, dtype=np.float64):
    """Rows of a kind.

    Parameters
    ----------
    kind : {"points", "ball", "histograms", "clusters"}
    n, d : int
    seed : int
    dtype : dtype, default=float64

    Returns
    -------
    ndarray of shape (n, d), C order
    """
    return np.ascontiguousarray(_drawn(kind, n, d, seed)[0], dtype=dtype)


def _drawn(kind, n, d, seed):
    if kind not in KINDS:
        raise ValueError(unknown_name("kind of rows", kind, list(KINDS)))
    X, y = KINDS[kind][0](np.random.default_rng(seed), n, d)
    return X.round(DECIMALS), y


def load(kind, n_rows, n_columns, seed=0):
    """The rows on which approximations are judged, as a data set.

    Parameters
    ----------
    kind : {"points", "ball", "histograms", "clusters"}
    n_rows, n_columns, seed : int

    Returns
    -------
    Dataset
        Without a test part.
    """
    X, y = _drawn(kind, n_rows, n_columns, seed)
    return Dataset(
        name=kind,
        X_train=X,
        y_train=y,
        X_test=X[:0],
        y_test=y[:0],
        kind="generated",
        description=KINDS[kind][1],
        source="kernbench.experiments.ours.primitives.inputs",
        checksum=array_checksum(X, y),
    )
