"""Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011), and the random numbers of features.

The key is the seed; number j of a draw is word j % 4 of the counter (j // 4, draw, block, tag), and the tag is its
purpose + 256 factor, where `factor` is the index among the factors of a sum or product of kernels; in the second stream
of features it is 4 + 16 purpose + 256 factor.
"""

import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
MASK = 0xFFFFFFFF

FREQUENCIES, PHASES, DEGREES, SCALES, SECOND_STREAM = range(5)  # purposes


def philox(counter, key):
    """Return the four random words of a counter of four words under a key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(MULTIPLIERS[0] * c0, 2**32)
        high1, low1 = divmod(MULTIPLIERS[1] * c2, 2**32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + KEY_STEPS[0]) & MASK, (k1 + KEY_STEPS[1]) & MASK
    return c0, c1, c2, c3


class Numbers:
    """The random numbers of one block of one factor.

    Parameters
    ----------
    seed, block : int
    factor : int, default=0
        The index of the factor of a sum or product.
    second : bool, default=False
        Whether the draws are of the second stream.
    """

    def __init__(self, seed, block, factor=0, second=False):
        self.seed, self.key = seed, (seed & MASK, seed >> 32)
        self.block, self.factor, self.second = block, factor, second

    def words(self, draw, n, purpose, first_quad=0):
        """Return the first n words of a draw, after `first_quad` counters that are skipped."""
        tag = (SECOND_STREAM + 16 * purpose if self.second else purpose) + 256 * self.factor
        quads = [philox((first_quad + quad, draw, self.block, tag), self.key) for quad in range((n + 3) // 4)]
        return np.array(quads, dtype=np.uint32).ravel()[:n]

    def uniforms(self, draw, n, purpose, first_quad=0):
        """Return numbers of (0, 1): (word + 1/2) 2^-32."""
        return (self.words(draw, n, purpose, first_quad) + 0.5) * 2.0**-32

    def normals(self, draw, n, purpose):
        """Return standard normal numbers, by Box and Muller from the words (0, 1), (2, 3), ..."""
        u = self.uniforms(draw, n + n % 2, purpose).reshape(-1, 2)
        radius, angle = np.sqrt(-2 * np.log(u[:, 0])), 2 * np.pi * u[:, 1]
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).ravel()[:n]

    def signs(self, draw, n, purpose, first_quad=0):
        """Return +1 where the uniform number is below 1/2, else -1."""
        return np.where(self.uniforms(draw, n, purpose, first_quad) < 0.5, 1.0, -1.0)
