"""Small dense sets in float64; classes are balanced to within one example before labels are flipped."""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS, generated_entry, shuffled_labels
from kernbench.validation.numbers import check_number


def blobs(n, rng, *, n_features=10, separation=2.0):
    """Two Gaussians with unit covariance and centres at distance `separation`.

    The Bayes classifier is linear; its error is ``Phi(-separation/2)``, 15.87% for the default.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=10
    separation : float, default=2.0
        Distance of the centres, which lie on the diagonal (1, …, 1), symmetric about the origin.
    """
    check_number("n_features", n_features, at_least=1, whole=True)
    check_number("separation", separation, at_least=0)
    y = shuffled_labels(n, rng)
    X = rng.standard_normal((n, n_features)) + y[:, None] * (separation / 2 / np.sqrt(n_features))
    return X.round(DECIMALS), y


def moons(n, rng, *, noise=0.25):
    """Two interleaving half circles of radius 1, the second reflected and shifted by (1, 1/2).

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=0.25
        Standard deviation of the Gaussian noise on both coordinates.
    """
    check_number("noise", noise, at_least=0)
    y = shuffled_labels(n, rng)
    angle = rng.uniform(0.0, np.pi, n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(y[:, None] > 0, upper, np.array([1.0, 0.5]) - upper)
    return (X + noise * rng.standard_normal((n, 2))).round(DECIMALS), y


def checkerboard(n, rng, *, cells=4, noise=0.05):
    """Uniform points on a centred board of `cells` x `cells` unit squares, labelled by the colour of their square.

    A linear classifier does little better than chance: with the defaults it is right for at most 56.5 % of the points.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    cells : int, default=4
        Number of squares along a side.
    noise : float, default=0.05
        Share of the labels flipped; the Bayes error.
    """
    check_number("cells", cells, at_least=2, whole=True)
    check_number("noise", noise, at_least=0, below=0.5)
    y = shuffled_labels(n, rng)
    row, column = np.indices((cells, cells)).reshape(2, -1)
    colour = np.where((row + column) % 2 == 0, 1, -1)
    square = np.empty(n, dtype=np.intp)
    for label in (-1, 1):
        square[y == label] = rng.choice(np.flatnonzero(colour == label), np.count_nonzero(y == label))
    X = np.column_stack([row[square], column[square]]) + rng.random((n, 2)) - cells / 2
    return X.round(DECIMALS), _flipped(y, rng, noise)


def rings(n, rng, *, noise=0.25):
    """A ring of radius 1 (+1) inside a ring of radius 2 (-1).

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=0.25
        Standard deviation of the Gaussian noise on the radius; with the default about 2.3% of the points lie
        nearer to the other ring.
    """
    check_number("noise", noise, at_least=0)
    y = shuffled_labels(n, rng)
    angle = rng.uniform(0.0, 2 * np.pi, n)
    radius = np.where(y > 0, 1.0, 2.0) + noise * rng.standard_normal(n)
    return (radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).round(DECIMALS), y


def _flipped(y, rng, share):
    flipped = rng.choice(len(y), int(share * len(y)), replace=False)
    y[flipped] *= -1
    return y


_FACTS = {"n_train": 2000, "n_test": 2000, "positive": "50%"}

ENTRIES = (
    generated_entry(blobs, "Two overlapping Gaussians; the best classifier is linear.", n_features=10, **_FACTS),
    generated_entry(moons, "Two interleaving half circles in the plane, with Gaussian noise.", n_features=2, **_FACTS),
    generated_entry(
        checkerboard,
        "Squares of two colours in the plane, some labels flipped; a linear classifier is right for 56.5% at most.",
        n_features=2,
        **_FACTS,
    ),
    generated_entry(rings, "Two concentric rings in the plane, with noise on the radius.", n_features=2, **_FACTS),
)
