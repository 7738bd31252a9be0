"""Small colour images of stripes with a rare direction: a stand-in for photographs that cannot be had."""

import numpy as np

from kernbench.datasets.generated.common import DECIMALS_FLOAT32, generated_entry, shuffled_labels
from kernbench.validation.numbers import check_number

DIRECTIONS = 8  # one of them is positive
PERIOD = 5.0  # pixels
TINT = 0.04  # by which the first colour of positives is brighter: all that a linear score sees


def striped_images(n, rng, *, side=16, positive=0.1, noise=0.25):
    """Stripes at any place in one of eight directions; +1 is one of these, and a little redder.

    A linear score of pixels sees the tint only, since stripes at all places average out; a network of convolutions sees
    the direction. Pixels are in [0, 1], all of one colour before those of the next.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator
    side : int, default=16
        Rows and columns of an image.
    positive : float, default=0.1
        Share of positives.
    noise : float, default=0.25
        Standard deviation of the noise of a pixel.

    Returns
    -------
    X : ndarray of shape (n, 3 * side * side), float32
    y : ndarray of shape (n,)
        -1 and +1, int64.
    """
    check_number("side", side, at_least=4, whole=True)
    check_number("positive", positive, above=0, below=1)
    check_number("noise", noise, at_least=0)
    y = shuffled_labels(n, rng, positive)
    direction = np.where(y > 0, 0, rng.integers(1, DIRECTIONS, n))
    angle = np.pi * (direction / DIRECTIONS + rng.uniform(-0.5, 0.5, n) / (2 * DIRECTIONS))
    phase, contrast = rng.uniform(0.0, 2 * np.pi, n), rng.uniform(0.1, 0.4, (n, 3, 1, 1))
    row, column = np.indices((side, side))
    along = np.cos(angle)[:, None, None] * column + np.sin(angle)[:, None, None] * row
    stripes = np.cos(2 * np.pi / PERIOD * along + phase[:, None, None])
    X = 0.5 + contrast * stripes[:, None] + noise * rng.standard_normal((n, 3, side, side))
    X[y > 0, 0] += TINT
    return X.clip(0.0, 1.0).reshape(n, -1).round(DECIMALS_FLOAT32).astype(np.float32), y


ENTRIES = (
    generated_entry(
        striped_images,
        "Striped colour images of 16 x 16 pixels, one direction of eight positive; a linear score sees little of it.",
        n_train=2000,
        n_test=1000,
        n_features=768,
        layout="dense float32",
        positive="10%",
    ),
)
