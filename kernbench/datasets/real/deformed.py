"""Handwritten digits, slightly deformed at random: an endless stream, as MNIST8M is a long one.

MNIST8M (Loosli, Canu and Bottou 2007) holds 8.1 million deformed MNIST digits. Here images are deformed as they are
read, so that there is no end of them and no file: rotated, scaled, sheared, shifted and bent smoothly.
"""

import numpy as np

from kernbench.validation.numbers import check_number

SIDE = 28
BLOCK_ROWS = 1024  # images drawn together; changing it changes the stream
ROTATION = 0.15  # radians; this and all others are standard deviations
SCALING = 0.07
SHEAR = 0.12
SHIFT = 0.6  # pixels
BENDING = 0.9  # pixels
KNOTS = 6  # along a side, of the field that bends


class DeformedImages:
    """An endless stream of deformed images; the stream is determined by the images and a seed.

    Block b of `BLOCK_ROWS` images depends on the seed and on b only, so that a row of the stream is the same however
    the stream is cut into chunks.

    Parameters
    ----------
    images : ndarray of shape (n, 784), float32
    labels : ndarray of shape (n,)
    seed : int, default=0
    transform : callable, optional
        Applied to the rows of every block, such as a projection to principal components.
    """

    def __init__(self, images, labels, seed=0, transform=None):
        check_number("seed", seed, at_least=0, whole=True)
        self._images, self._labels, self._seed = images, labels, seed
        self._transform = transform or (lambda rows: rows)

    def rows(self, start, stop):
        """Return rows start to stop - 1 of the stream and their labels."""
        X = y = None
        first = start // BLOCK_ROWS
        for b in range(first, max(first + 1, -(-stop // BLOCK_ROWS))):  # no rows have a shape, too
            rows, labels = self._block(b)
            if X is None:
                X = np.empty((stop - start, rows.shape[1]), dtype=rows.dtype)
                y = np.empty(stop - start, dtype=labels.dtype)
            low, high = max(start, b * BLOCK_ROWS), min(stop, (b + 1) * BLOCK_ROWS)
            part = slice(low - b * BLOCK_ROWS, high - b * BLOCK_ROWS)
            X[low - start : high - start], y[low - start : high - start] = rows[part], labels[part]
        return X, y

    def chunks(self, rows, n_rows=None):
        """Yield (X, y) of `rows` rows each; endlessly, or until `n_rows` have been given.

        Parameters
        ----------
        rows : int
            Best a multiple of 1,024.
        n_rows : int, optional
        """
        check_number("rows", rows, at_least=1, whole=True)
        start = 0
        while n_rows is None or start < n_rows:
            stop = start + rows if n_rows is None else min(start + rows, n_rows)
            yield self.rows(start, stop)
            start = stop

    def _block(self, b):
        rng = np.random.default_rng([self._seed, b])
        drawn = rng.integers(len(self._labels), size=BLOCK_ROWS)
        return self._transform(deformed(self._images[drawn], rng)), self._labels[drawn]


def deformed(images, rng):
    """Return images with a random affine and a random smooth deformation each, bilinearly interpolated.

    Returns
    -------
    ndarray of shape (n, 784), float32
    """
    n = len(images)
    angle, shear = ROTATION * rng.standard_normal(n), SHEAR * rng.standard_normal(n)
    scale = np.exp(SCALING * rng.standard_normal((n, 2)))
    cos, sin = np.cos(angle), np.sin(angle)
    # Where each pixel's value comes from: rotation @ shear @ scaling of its place, seen from the centre.
    matrices = np.empty((n, 2, 2))
    matrices[:, 0, 0], matrices[:, 0, 1] = scale[:, 0] * cos, scale[:, 1] * (shear * cos - sin)
    matrices[:, 1, 0], matrices[:, 1, 1] = scale[:, 0] * sin, scale[:, 1] * (shear * sin + cos)
    centre = (SIDE - 1) / 2
    grid = np.indices((SIDE, SIDE)).reshape(2, -1) - centre
    places = matrices @ grid + centre + SHIFT * rng.standard_normal((n, 2, 1))
    knots = rng.standard_normal((n, 2, KNOTS, KNOTS))
    places += BENDING * (_SPLINE @ knots @ _SPLINE.T).reshape(n, 2, -1)
    return _interpolated(images, places.astype(np.float32))


def _interpolated(images, places):
    """Values of images at fractional places of shape (n, 2, 784); 0 outside."""
    padded = np.zeros((len(images), SIDE + 2, SIDE + 2), dtype=np.float32)
    padded[:, 1:-1, 1:-1] = images.reshape(-1, SIDE, SIDE)
    padded = padded.reshape(len(images), -1)
    places = np.clip(places + 1, 0, SIDE + 0.999)
    corner = places.astype(np.intp)
    down, right = np.moveaxis(places - corner.astype(np.float32), 1, 0)
    at = corner[:, 0] * (SIDE + 2) + corner[:, 1]

    def pixels(offset):
        return np.take_along_axis(padded, at + offset, axis=1)

    top = (1 - right) * pixels(0) + right * pixels(1)
    bottom = (1 - right) * pixels(SIDE + 2) + right * pixels(SIDE + 3)
    return (1 - down) * top + down * bottom


def _spline():
    """The matrix of shape (SIDE, KNOTS) of Gaussian bumps, scaled so that a random field has variance 1."""
    place, knot = np.arange(SIDE)[:, None], np.linspace(0, SIDE - 1, KNOTS)[None, :]
    spacing = (SIDE - 1) / (KNOTS - 1)
    bumps = np.exp(-0.5 * ((place - knot) / (0.8 * spacing)) ** 2)
    return bumps / np.linalg.norm(bumps, axis=1, keepdims=True)


_SPLINE = _spline()
