"""A random order of the integers below n that is never written down."""

import numpy as np


class Shuffled:
    """The integers below n in random order; a slice of it costs as much as it is long.

    Long orders are not stored: a Feistel network permutes the integers of as many bits, and results of n or more
    are permuted again until they are below n.
    """

    STORED = 2**16
    ROUNDS = 4

    def __init__(self, n, rng):
        self._n = n
        self._order = rng.permutation(n) if n <= self.STORED else None
        self._half = np.uint64((max(n - 1, 1).bit_length() + 1) // 2)
        self._keys = rng.integers(2**63, size=self.ROUNDS, dtype=np.uint64) | np.uint64(1)

    def between(self, start, stop):
        """Return the integers at positions start to stop - 1, intp."""
        if self._order is not None:
            return self._order[start:stop]
        numbers = self._mixed(np.arange(start, stop, dtype=np.uint64))
        while np.any(outside := numbers >= self._n):
            numbers[outside] = self._mixed(numbers[outside])
        return numbers.astype(np.intp)

    def _mixed(self, numbers):
        mask = np.uint64(2 ** int(self._half) - 1)
        left, right = numbers >> self._half, numbers & mask
        for key in self._keys:
            hashed = (right + key) * np.uint64(0x9E3779B97F4A7C15)
            hashed = (hashed ^ (hashed >> np.uint64(29))) * key
            left, right = right, left ^ ((hashed >> np.uint64(32)) & mask)
        return (left << self._half) | right
