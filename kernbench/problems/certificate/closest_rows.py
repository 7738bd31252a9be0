"""How close rows that differ may be: a kernel that is steep at 0 is sensitive to the rounding of the closest ones."""

import numpy as np
from scipy import sparse

from kernbench.kernels.base import squared_norms
from kernbench.kernels.constants import EPS
from kernbench.kernels.engine.operands.centre import as_float64, centre_of_sparse, moved


def least_distance(X):
    """Return a lower bound on the distance of any two rows that differ: the least one of their projections on a line.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    float
        0 where rows that differ have the same projection, up to rounding; infinite where all rows are equal.
    """
    line = np.random.default_rng(0).standard_normal(X.shape[1])
    line /= np.linalg.norm(line)
    if sparse.issparse(X):
        X = moved(sparse.csr_matrix(X, dtype=np.float64), centre_of_sparse(X)).tocsr()
    else:
        X = as_float64(X) - np.median(X, axis=0)
    places = X @ line
    rounding = EPS[np.dtype(np.float64)] * (X.shape[1] + 2.0) * float(np.sqrt(squared_norms(X).max()))
    order = np.argsort(places)
    gaps = np.diff(places[order])
    close = np.flatnonzero(gaps <= rounding)
    differ = X[order[close]] != X[order[close + 1]]
    if differ.nnz if sparse.issparse(X) else differ.any():
        return 0.0
    return float(np.delete(gaps, close).min(initial=np.inf)) - (rounding if len(close) < len(gaps) else 0.0)
