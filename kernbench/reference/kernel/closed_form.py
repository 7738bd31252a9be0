"""The sums of the Parzen classifier in plain NumPy: the core of `solvers.kernel.closed_form`."""

import numpy as np

CHUNK = 256  # kernel rows held at a time


def parzen_sums(rows, signed):
    """Return sum_j signed_j k(x_i, x_j) for every row i."""
    used, sums = np.flatnonzero(signed), np.zeros(rows.n_rows)
    for first in range(0, rows.n_rows, CHUNK):
        chunk = np.arange(first, min(rows.n_rows, first + CHUNK))
        sums[chunk] = rows.block(chunk, used) @ signed[used]
    return sums
