"""Data sets prepared as in the paper."""

from dataclasses import replace

import numpy as np

from kernbench.datasets import Dataset, load
from kernbench.datasets.base import array_checksum


def forest(**arguments):
    """Forest cover types with every column scaled to [0, 1] by its training rows."""
    data = load("covtype", standardise=False, **arguments)
    low, high = data.X_train.min(axis=0), data.X_train.max(axis=0)
    width = np.where(high > low, high - low, 1)
    X_train, X_test = ((X - low) / width for X in (data.X_train, data.X_test))
    description = f"{data.description} Columns scaled to [0, 1] by the training rows."
    return replace(data, X_train=X_train, X_test=X_test, description=description)


def rate_problem(n_train=3000, n_test=1, seed=0):
    """Rows uniform on [-2, 2]², y = sin(x_0) x_1 + 0.1 e: a smooth problem with a strong regularisation, for a rate."""
    rng = np.random.default_rng([n_train, seed])
    X = rng.uniform(-2, 2, (n_train + n_test, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(len(X))
    parts = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
    return Dataset(
        "smooth-2d",
        *parts,
        kind="generated",
        description=f"y = sin(x_0) x_1 + 0.1 e on [-2, 2]², {n_train:,} training rows drawn with seed {seed}.",
        source=f"{__name__}.rate_problem",
        checksum=array_checksum(*parts),
        task="regression",
    )
