"""Small dense sets drawn from formulas; they need no file and no network.

Each function is ``generator(n, rng, **options) -> (X, y)`` with `X` of shape (n, n_features), float64, and
`y` of -1 and +1, int64. Classes are balanced to within one example before labels are flipped.
"""

import numpy as np

from kernbench.datasets.checks import require_number
from kernbench.datasets.entry import generated

# Coordinates are rounded so that a last digit that differs between two mathematics libraries does not change
# the data's checksum.
DECIMALS = 9


def blobs(n, rng, *, n_features=10, separation=2.0):
    """Two overlapping Gaussians with unit covariance, their centres `separation` apart.

    The best classifier is linear and errs with probability ``Phi(-separation/2)``: 15.87% for the default.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    n_features : int, default=10
    separation : float, default=2.0
        Distance of the centres, which lie on the diagonal (1, …, 1), symmetric about the origin.
    """
    require_number("n_features", n_features, at_least=1, whole=True)
    require_number("separation", separation, at_least=0)
    y = shuffled_labels(n, rng)
    X = rng.standard_normal((n, n_features)) + y[:, None] * (separation / 2 / np.sqrt(n_features))
    return X.round(DECIMALS), y


def moons(n, rng, *, noise=0.25):
    """Two interleaving half circles of radius 1, the second turned over and moved by (1, 1/2).

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    noise : float, default=0.25
        Standard deviation of the Gaussian noise on both coordinates.
    """
    require_number("noise", noise, at_least=0)
    y = shuffled_labels(n, rng)
    angle = rng.uniform(0.0, np.pi, n)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(y[:, None] > 0, upper, np.array([1.0, 0.5]) - upper)
    return (X + noise * rng.standard_normal((n, 2))).round(DECIMALS), y


def checkerboard(n, rng, *, cells=4, noise=0.05):
    """Uniform points on a board of `cells` x `cells` unit squares centred at the origin, labelled by colour.

    An exclusive-or in two dimensions: no linear classifier is better than chance.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    cells : int, default=4
        Squares along a side.
    noise : float, default=0.05
        Share of the labels flipped; the error of the best classifier.
    """
    require_number("cells", cells, at_least=2, whole=True)
    require_number("noise", noise, at_least=0, below=0.5)
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
    require_number("noise", noise, at_least=0)
    y = shuffled_labels(n, rng)
    angle = rng.uniform(0.0, 2 * np.pi, n)
    radius = np.where(y > 0, 1.0, 2.0) + noise * rng.standard_normal(n)
    return (radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).round(DECIMALS), y


def shuffled_labels(n, rng, positive=0.5):
    """Labels -1 and +1 in random order, a share `positive` of them +1; both occur when n > 1."""
    y = np.full(n, -1, dtype=np.int64)
    y[: np.clip(round(n * positive), min(1, n - 1), max(1, n - 1))] = 1
    rng.shuffle(y)
    return y


def _flipped(y, rng, share):
    flipped = rng.choice(len(y), int(share * len(y)), replace=False)
    y[flipped] *= -1
    return y


ENTRIES = (
    generated(
        "blobs",
        blobs,
        "Two overlapping Gaussians; the best classifier is linear.",
        n_train=2000,
        n_test=2000,
        n_features=10,
        layout="dense float64",
        positive="50%",
    ),
    generated(
        "moons",
        moons,
        "Two interleaving half circles in the plane, with Gaussian noise.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
    generated(
        "checkerboard",
        checkerboard,
        "Squares of two colours in the plane, some labels flipped; no linear classifier beats chance.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
    generated(
        "rings",
        rings,
        "Two concentric rings in the plane, with noise on the radius.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
)
