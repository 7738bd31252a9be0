"""The rows that blocks hold."""

import numpy as np
from scipy import sparse


def rows_of(blocks):
    """Return all rows of blocks as one array."""
    parts = [part.toarray() if sparse.issparse(part) else part for part in blocks.parts()]
    return np.concatenate(parts)
