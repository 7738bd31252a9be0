"""Data sets prepared as in the paper."""

from dataclasses import replace

import numpy as np
from scipy.stats import norm

from kernbench.datasets import Dataset, load
from kernbench.datasets.base import array_checksum
from kernbench.datasets.real.molecules import BOHRS_PER_ANGSTROM, coulomb_matrices, sorted_by_norm, upper_triangles


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
    return _generated("smooth-2d", X, y, n_train, seed, "y = sin(x_0) x_1 + 0.1 e on [-2, 2]²", rate_problem)


def cifar10_convolved(n_components=256, n_filters=256):
    """The subset of CIFAR-10 behind fixed random convolutions, projected to principal components without centring.

    5 x 5 filters of independent normal weights on patches of mean 0 and variance 1, rectified and averaged over a 3 x 3
    grid of parts of the image. Nothing is learned but the projection.
    """
    data = load("cifar10-subset")
    filters = np.random.default_rng(0).standard_normal((75, n_filters)).astype(np.float32) / np.sqrt(75)
    Z_train, Z_test = (_convolved(X, filters.astype(np.float32)) for X in (data.X_train, data.X_test))
    components = np.linalg.eigh((Z_train.T @ Z_train).astype(np.float64))[1][:, ::-1][:, :n_components]
    components = components.astype(np.float32)
    text = f"{data.description} {n_components} principal components of {n_filters} fixed random 5 x 5 convolutions."
    return replace(data, X_train=Z_train @ components, X_test=Z_test @ components, description=text)


def _convolved(X, filters, grid=3):
    out = np.empty((len(X), grid * grid * filters.shape[1]), dtype=np.float32)
    for i, image in enumerate(X.reshape(-1, 32, 32, 3)):
        patches = np.lib.stride_tricks.sliding_window_view(image, (5, 5), axis=(0, 1))
        side = patches.shape[0]
        patches = patches.reshape(side * side, -1)
        patches = patches - patches.mean(axis=1, keepdims=True)
        patches /= patches.std(axis=1, keepdims=True) + np.float32(0.05)  # noise of flat patches is not blown up
        maps = np.maximum(patches @ filters, 0).reshape(side, side, -1)
        edges = np.linspace(0, side, grid + 1).round().astype(int)
        out[i] = np.concatenate(
            [
                maps[edges[a] : edges[a + 1], edges[b] : edges[b + 1]].mean(axis=(0, 1))
                for a in range(grid)
                for b in range(grid)
            ]
        )
    return out


def gaussian_rows(n_train, n_features, n_test=500, seed=0):
    """Standard normal rows; labels by the sign of a product of two columns, a tenth of them flipped."""
    rng = np.random.default_rng([n_features, seed])
    X = rng.standard_normal((n_train + n_test, n_features), dtype=np.float32)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1) * np.where(rng.random(len(X)) < 0.1, -1, 1)
    parts = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
    return Dataset(
        "gaussian-rows",
        *parts,
        kind="generated",
        description=f"Standard normal rows, {n_train:,} to train and {n_test:,} to test with, drawn with seed {seed}.",
        source=f"{__name__}.gaussian_rows",
        checksum=array_checksum(*parts),
    )


def generated_molecules(n_train=600, n_test=200, n_atoms=8, seed=0):
    """Random clusters of H, C, N and O; the energy is a sum over pairs, deepest at a distance of 1.4 angstrom.

    Rows are upper triangles of sorted Coulomb matrices, as in ``qm7``.
    """
    rng = np.random.default_rng([n_atoms, seed])
    n = n_train + n_test
    charges = rng.choice([1, 6, 7, 8], (n, n_atoms), p=[0.5, 0.3, 0.1, 0.1])
    positions = np.zeros((n, n_atoms, 3))
    for k in range(1, n_atoms):  # beside an atom that is there already
        directions = rng.standard_normal((n, 3))
        directions *= rng.uniform(1.1, 1.6, n)[:, None] / np.linalg.norm(directions, axis=1, keepdims=True)
        positions[:, k] = positions[np.arange(n), rng.integers(k, size=n)] + directions
    distances = np.maximum(np.linalg.norm(positions[:, :, None] - positions[:, None], axis=-1), 0.7)
    depths = np.sqrt(charges[:, :, None] * charges[:, None])
    i, j = np.triu_indices(n_atoms, 1)
    y = -20.0 * (depths * np.exp(-((distances - 1.4) ** 2)))[:, i, j].sum(axis=1)
    X = upper_triangles(sorted_by_norm(coulomb_matrices(charges, positions * BOHRS_PER_ANGSTROM)))
    X = np.minimum(X, 200.0)  # atoms that were put on top of each other
    parts = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
    return Dataset(
        "generated-molecules",
        *parts,
        kind="generated",
        description=f"Random clusters of {n_atoms} atoms, {n_train:,} to train and {n_test:,} to test, seed {seed}.",
        source=f"{__name__}.generated_molecules",
        checksum=array_checksum(*parts),
        task="regression",
    )


def noisy_waves(n_train=1000, n_test=500, seed=0):
    """Rows uniform on [-3, 3], y = sin(2 x) + (0.1 + 0.1 |x|) e, whose quantiles are known."""
    rng = np.random.default_rng([n_train, seed])
    X = rng.uniform(-3, 3, (n_train + n_test, 1))
    y = wave_quantile(X, rng.random(len(X)))
    text = "y = sin(2 x) + (0.1 + 0.1 |x|) e, x uniform on [-3, 3]"
    return _generated("noisy-waves", X, y, n_train, seed, text, noisy_waves)


def wave_quantile(X, quantile):
    """The conditional quantile of `noisy_waves` at rows."""
    return np.sin(2 * X[:, 0]) + (0.1 + 0.1 * np.abs(X[:, 0])) * norm.ppf(quantile)


def two_clusters(n_train=1000, n_test=500, seed=0):
    """Rows of two normal clusters in the plane; test rows are uniform on [-3, 3]², many of them novel."""
    rng = np.random.default_rng([n_train, seed])
    rows = 0.5 * rng.standard_normal((n_train, 2)) + rng.choice([-1.5, 1.5], (n_train, 1))
    X = np.vstack([rows, rng.uniform(-3, 3, (n_test, 2))])
    text = "Two normal clusters in the plane, test rows uniform on [-3, 3]²"
    return _generated("two-clusters", X, np.ones(len(X)), n_train, seed, text, two_clusters, "binary")


def shifted_normals(n_train=1000, n_test=500, seed=0):
    """Rows of N(0, 1), y = 1, and as many of N(0.5, 1), y = -1: the logarithm of their ratio is 1/8 - x/2."""
    rng = np.random.default_rng([n_train, seed])
    y = np.where(np.arange(n_train + n_test) % 2 == 0, 1.0, -1.0)
    X = (rng.standard_normal(len(y)) + np.where(y > 0, 0.0, 0.5))[:, None]
    text = "Normal rows, p = N(0, 1) and q = N(0.5, 1)"
    return _generated("shifted-normals", X, y, n_train, seed, text, shifted_normals, "binary")


def _generated(name, X, y, n_train, seed, text, made_by, task="regression"):
    parts = X[:n_train], y[:n_train], X[n_train:], y[n_train:]
    return Dataset(
        name,
        *parts,
        kind="generated",
        description=f"{text}; {n_train:,} training and {len(y) - n_train:,} test rows, drawn with seed {seed}.",
        source=f"{__name__}.{made_by.__name__}",
        checksum=array_checksum(*parts),
        task=task,
    )
