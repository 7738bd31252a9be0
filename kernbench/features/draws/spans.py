"""The random numbers behind a range of features: seed, factor, blocks, draws, and the purpose of each number.

Features come in *blocks* of columns, and a block in *draws* of one or more columns each. Number j of a draw
depends on (seed, block, draw within the block, purpose, factor, j) and on nothing else: not on the rows, the
threads, or what was drawn before. This layout is part of the file format.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from kernbench.features.draws._philox import fill
from kernbench.features.draws.sobol import sobol_points

# The generator's tag is purpose + 256 factor, and 4 + 16 purpose + 256 factor in the second stream.
PURPOSE_SHIFT, FACTOR_SHIFT = 4, 8
MAX_SEED, MAX_BLOCK = 2**64 - 1, 2**32 - 1


class Purpose(IntEnum):
    """Purposes of random numbers; numbers of different purposes are independent."""

    FREQUENCIES = 0
    PHASES = 1
    DEGREES = 2  # and the hashes of a TensorSketch
    SCALES = 3  # chi-square scales: 0 of Matérn's spectral density, 1 of orthogonal and Fastfood rows
    SECOND_STREAM = 4  # features that are independent of those with the same seed and number
    DATA = 5


@dataclass(frozen=True)
class Span:
    """Columns of consecutive blocks.

    Attributes
    ----------
    seed : int
        From 0 to 2^64 - 1.
    first_block : int
    n_columns : int
        The last block may be cut short.
    block_columns : int
        Columns of a whole block.
    second : bool
        Whether the columns are of the second stream of features.
    """

    seed: int
    first_block: int
    n_columns: int
    block_columns: int
    second: bool = False

    def n_draws(self, columns_per_draw):
        return self.n_columns // columns_per_draw

    def numbers(self, distribution, factor, columns_per_draw, n_scalars, purpose, **options):
        """Return `n_scalars` numbers of each draw.

        `factor` is 0 for a plain kernel; the factors of all terms of sums and products are numbered consecutively, so
        that their draws are independent. `options` as in `kernbench.features.draws._philox.fill`.
        """
        block_draws = self.block_columns // columns_per_draw
        index = np.arange(self.n_draws(columns_per_draw))
        draws, blocks = index % block_draws, self.first_block + index // block_draws
        return self.numbers_of(distribution, factor, draws, blocks, n_scalars, purpose, **options)

    def numbers_of(self, distribution, factor, draws, blocks, n_scalars, purpose, **options):
        """Return `n_scalars` numbers of each of the given draws and blocks."""
        its = Purpose.SECOND_STREAM | purpose << PURPOSE_SHIFT if self.second else int(purpose)
        tag = its | factor << FACTOR_SHIFT
        draws, blocks = np.asarray(draws, dtype=np.uint32), np.asarray(blocks, dtype=np.uint32)
        return fill(distribution, self.seed, tag, draws, blocks, n_scalars, **options)

    def points(self, factor, columns_per_draw, n_dimensions):
        """Return one scrambled Sobol point for each draw, shape (n_draws, n_dimensions).

        Draws are numbered across all blocks, so that together they cover the unit cube evenly.
        """
        first = self.first_block * (self.block_columns // columns_per_draw)
        key = (self.seed, factor, Purpose.SECOND_STREAM) if self.second else (self.seed, factor)
        return sobol_points(key, n_dimensions, first, self.n_draws(columns_per_draw))

    def blocks(self):
        """Yield number, first column and number of columns of each block."""
        for first in range(0, self.n_columns, self.block_columns):
            yield (
                self.first_block + first // self.block_columns,
                first,
                min(self.block_columns, self.n_columns - first),
            )


@lru_cache(maxsize=64)
def segments(span, columns_per_draw, width, group=None):
    """Return the segments of draws that the compiled loops process together.

    Parameters
    ----------
    span : Span
    columns_per_draw : int
        If even, cosines are in the first half of a block and sines in the second.
    width : int
        Largest number of draws in a segment.
    group : int, optional
        Every segment lies within one group of this many draws of its block.

    Returns
    -------
    ndarray of shape (n_segments, 4), intp
        First draw, number of draws, first column, distance from cosines to sines.
    """
    width = width if group is None else min(width, group)
    half = max(1, columns_per_draw // 2)
    table = []
    for _, column, n_columns in span.blocks():
        draws = n_columns // columns_per_draw
        for start in range(0, draws, width):
            first = column // columns_per_draw + start
            table.append((first, min(width, draws - start), column + start * half, draws * half))
    return np.array(table, dtype=np.intp).reshape(-1, 4)
