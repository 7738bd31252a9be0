"""The sums of the Parzen classifier by compiled kernel rows: the core of `closed_form`."""

import numpy as np


def parzen_sums(rows, signed):
    """Return K @ signed, tile by tile."""
    used = np.flatnonzero(signed)
    return rows.product(np.arange(rows.n_rows), used, signed[used])
