"""Length scales from the data, in plain NumPy: all pairs of rows."""

import numpy as np
from scipy import sparse

from kernbench._random import as_generator


def median_distance(X, *, n_rows=2000, metric="euclidean", random_state=None):
    """Return the median distance between pairs of a random subset of the rows; 1 if that is 0 or there are none.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    n_rows : int, default=2000
    metric : {"euclidean", "l1"}, default="euclidean"
    random_state : int, Generator or None, default=None
    """
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    if len(X) > n_rows:
        X = X[np.sort(as_generator(random_state).choice(len(X), n_rows, replace=False))]
    order = 1 if metric == "l1" else 2
    distances = [np.linalg.norm(X[i] - X[j], order) for j in range(len(X)) for i in range(j)]
    return float(np.median(distances)) if np.any(distances) and np.median(distances) > 0 else 1.0


def scale(X):
    """Return scikit-learn's ``gamma="scale"``, 1 / (d · variance of all entries); 1 if they are all equal."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    variance, rounding = X.var(), (8 * np.finfo(float).eps * X.mean()) ** 2
    return float(1 / (X.shape[1] * variance)) if variance > rounding else 1.0
