"""How many coordinates a working set of SMO takes.

A step inside a set takes time in proportion to its size. But a set that cannot hold all free coefficients solves a part
of one, often ill-conditioned problem, and the next set undoes much of it: at large C this takes many rounds. So sets
grow with the number of free coefficients.
"""

import numpy as np

from kernbench.validation.numbers import check_number

WORKING_SET_SIZE = 1024
LARGE_SET_SIZE = 1536  # ... for rows so long that the kernel between members costs little in comparison:
LARGE_ROWS = 20_000  # from this many rows on
LARGEST_SET_SIZE = 6144  # of one that has grown
ROOM = 1.25  # size as a multiple of the number of free coefficients: other coordinates have to enter, too
CACHE_SHARE = 0.25  # most memory of the kernel between the members, as a share of the cache of rows


def checked_sizes(sizes, n):
    """Return the least and the largest size for `n` rows; raise ValueError unless `sizes` is None, one or two."""
    if sizes is None:
        return LARGE_SET_SIZE if n >= LARGE_ROWS else WORKING_SET_SIZE, LARGEST_SET_SIZE
    sizes = tuple(sizes) if isinstance(sizes, (list, tuple)) else (sizes, sizes)
    if len(sizes) != 2:
        raise ValueError(f"working_set_size must be a number or a pair of numbers, got {sizes!r}")
    check_number("working_set_size", sizes[0], at_least=2, whole=True)
    check_number("working_set_size", sizes[1], at_least=sizes[0], whole=True)
    return sizes


class SetSize:
    """The size of the working sets of a run.

    Parameters
    ----------
    least : int
        Size at first; it may grow up to the largest and, until `fix`, does not fall.
    largest : int
        If the largest is above the least, the size follows the number of free coefficients.
    rows : KernelRows

    Attributes
    ----------
    now : int
    largest : int
    """

    def __init__(self, least, largest, rows):
        n = rows.n_rows
        self.now = min(n, least // 2 * 2)
        self.largest = max(self.now, min(n, largest, int(np.sqrt(CACHE_SHARE * rows.capacity * n))) // 2 * 2)
        self._stride, self._alone = max(2, self.now // 4 * 2), max(2 * self.now, self.largest)
        self._follows = self.largest > self.now

    def grow_for(self, n_free):
        """Make room for so many free coefficients, as far as possible."""
        wanted = int(np.ceil(ROOM * n_free / self._stride)) * self._stride
        self.now = max(self.now, min(wanted, self.largest))

    def fix(self, size):
        """Use sets of this size from now on, whatever is free."""
        self.now = self.largest = size
        self._follows = False

    def should_keep(self, n_free):
        """Return whether the free coefficients would be most of a set, yet leave room for others."""
        return self._follows and n_free > 0.5 * self.now and ROOM * n_free <= self.now

    def takes_all(self, n_active):
        """Return whether to solve so many coordinates, after shrinking, as one set: two would alternate for many
        rounds."""
        return n_active <= min(2 * self.now, self._alone)
