"""scikit-learn's StandardScaler, fitted to rows in blocks by their moments."""

from functools import partial

import numpy as np

from kernbench.distributed.blocks.mapped_blocks import as_array, mapped
from kernbench.distributed.blocks.spread import spread_of


def fit_scaler(scaler, blocks):
    """Fit a StandardScaler and return the scaled rows, as blocks.

    Mean and variance differ from those of an array by rounding alone.
    """
    if blocks.is_sparse:
        raise ValueError(
            "StandardScaler takes dense rows here: scale sparse ones with MaxAbsScaler before, or leave it out"
        )
    spread = spread_of(blocks, columns=True)
    n, eps = blocks.n_rows, np.finfo(np.float64).eps
    scaler.n_features_in_, scaler.n_samples_seen_ = blocks.n_columns, np.int64(n)
    scaler.mean_, scaler.var_, scaler.scale_ = spread.mean, spread.squares / n, None
    if not scaler.with_std:
        scaler.var_ = None
        if not scaler.with_mean:  # scikit-learn has no mean either then
            scaler.mean_ = None
    else:
        # A column is constant if rounding of its mean accounts for its variance, as scikit-learn has it.
        constant = scaler.var_ <= n * eps * scaler.var_ + (n * spread.mean * eps) ** 2
        scaler.scale_ = np.where(constant, 1.0, np.sqrt(scaler.var_))
    # A copy, also with copy=False: blocks may be the caller's rows, and each pass scales them.
    transform = partial(as_array, partial(scaler.transform, copy=True))
    return mapped(blocks, transform, blocks.n_columns, blocks.dtype)
