"""What a `BlockDesign` asks of features that need not lie in memory."""

from typing import Protocol

import numpy as np


class RowBlocks(Protocol):
    """Features of rows, in blocks, wherever these lie.

    Attributes
    ----------
    n_rows, n_columns : int
    n_values : int
        Stored numbers.
    dtype : dtype
        float32 or float64.
    """

    n_rows: int
    n_columns: int
    n_values: int
    dtype: np.dtype

    def scores(self, coef, out=None):
        """Return <coef, x_i> of all rows, shape (n_rows,), in `out` if it is given."""

    def combine(self, g):
        """Return sum_i g_i x_i, shape (n_columns,), added up over the chunks of `chunk_starts` in their order."""

    def rows(self, indices):
        """Return some rows, an ndarray or CSR matrix."""

    def moments(self, rows, h, mask, means):
        """Return sum_i h_i (x_i - m)(x_i - m)', m the row mask_i of `means`, or the first one where `mask` is None.

        Parameters
        ----------
        rows : ndarray of intp
            The indices i, in increasing order.
        h : ndarray of shape (n_rows,)
        mask : ndarray of shape (n_rows,), uint8, or None
        means : ndarray of shape (2, n_columns)

        Returns
        -------
        ndarray of shape (n_columns, n_columns)
            Only the upper triangle counts (in LAPACK's order of entries it is the lower one).
        """
