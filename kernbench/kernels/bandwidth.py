"""Length scales estimated from the data: the median heuristic, and scikit-learn's ``gamma="scale"``."""

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from kernbench._random import as_generator
from kernbench.kernels.base import squared_norms
from kernbench.kernels.blocks import as_rows
from kernbench.kernels.engine.operands.centre import centre_of_sparse, moved
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.numbers import check_name

MEDIAN_ROWS = 2000
GEMM_FEATURES = 200  # above, a matrix product beats loops over pairs, and sparse rows stay sparse
CHUNK_VALUES = 4_000_000
ACCURATE = 1e6  # squared distances, in units of their largest rounding error, from which they are accurate
FEW_PAIRS = 1e-3  # share of pairs that do not move the median
EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
ROUNDINGS = 8.0  # largest error of the mean of equal entries, in units of the last place
METRICS = ("euclidean", "l1")


def median_distance(X, *, n_rows=MEDIAN_ROWS, metric="euclidean", random_state=None):
    """Return the median of the distances between pairs of rows, on a random subset: the median heuristic.

    The kernel matrix of a Gaussian of this sigma (or a Laplacian, with ``metric="l1"``) is neither nearly constant nor
    nearly the identity.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    n_rows : int, default=2000
        Rows of the subset, drawn without replacement; all rows if there are no more.
    metric : {"euclidean", "l1"}, default="euclidean"
        Distances ‖x - z‖₂ (not their squares) or ‖x - z‖₁.
    random_state : int, RandomState, Generator or None, default=None
        Draws the subset. None is NumPy's global state (``np.random.seed``).

    Returns
    -------
    float
        Median over the n_rows (n_rows - 1) / 2 pairs, the mean of the two middle values if that number is
        even. 1 if the median is 0, since half of the pairs are equal.

    Raises
    ------
    ValueError
        If the squares of the distances underflow.
    """
    check_name("metric", metric, METRICS)
    if X.shape[0] > n_rows:
        X = X[np.sort(as_generator(random_state).choice(X.shape[0], n_rows, replace=False))]
    if X.shape[0] < 2:
        return 1.0
    median = _median(_manhattan(X)) if metric == "l1" else _euclidean(X)
    if median == 0 and 0 < float(X.max()) - float(X.min()) < TINY**0.5:
        raise _of_wrong_scale("small", "median")
    return median if median > 0 else 1.0


def representable(gamma, name):
    """Return a gamma that was computed from X; raise ValueError if it, or its inverse, is infinite."""
    if not TINY <= gamma < np.inf:
        raise _of_wrong_scale("large" if gamma < TINY else "small", name)
    return gamma


def _of_wrong_scale(problem, name):
    return ValueError(f"the entries of X are too {problem} for gamma={name!r}: scale the features")


def _median(distances):
    return float(np.median(distances, overwrite_input=True))


def _euclidean(X):
    """The median of the distances of all pairs."""
    if X.shape[1] <= GEMM_FEATURES:
        return _median(pdist(X.toarray() if sparse.issparse(X) else X))
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in _centred(X):
            distances, least = _by_products(rows)
            n_pairs, median = len(distances), _median(distances)
            if np.count_nonzero(least > median) <= FEW_PAIRS * n_pairs and not np.isnan(median):
                return median
        if sparse.issparse(X):
            return _median(_by_differences(X))
    copies = np.unique(X, axis=0, return_counts=True)[1]
    if np.sum(copies * (copies - 1)) > X.shape[0] * (X.shape[0] - 1) / 2:
        return 0.0  # more than half of the pairs are equal
    return _median(pdist(X))


def _centred(X):
    """Yield X in float64, moved to one centre after another.

    |x|^2 + |z|^2 - 2<x, z> cancels far from the origin, so dense rows are centred: by the mean and, if that is not
    accurate enough, by the median, which a few outliers do not move. Sparse rows are taken as they are and, if that is
    not accurate enough, centred in the columns without zeros, so that they stay sparse. Clusters far from each other
    have no common centre.
    """
    if sparse.issparse(X):
        rows = X.astype(np.float64)
        yield rows
        yield moved(rows, centre_of_sparse(rows))
        return
    for centre in (np.mean, np.median):
        rows = X.astype(np.float64)
        rows -= centre(rows, axis=0)
        yield rows


def _by_differences(X):
    """Return the distances of all pairs of sparse rows, in no particular order, from the differences of rows."""
    rows = X.astype(np.float64)
    others = (moved(rows[i + 1 :], rows[i : i + 1].toarray().ravel()) for i in range(X.shape[0] - 1))
    return np.sqrt(np.concatenate([squared_norms(differences) for differences in others]))


def _by_products(X):
    """Return the distances of all pairs, in no particular order, and bounds on those that are not accurate."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    norms = np.asarray(squares.sum(axis=1)).ravel()
    # Relative to the norms; rows at a smaller distance are equal up to rounding.
    smallest = 4.0 * X.shape[1] ** 0.5 * np.finfo(float).eps
    pairs, rounded, height = [], [], max(1, CHUNK_VALUES // X.shape[0])
    for start in range(0, X.shape[0], height):
        with single_threaded_blas():  # its rounding depends on the number of threads
            products = X[start : start + height] @ X[start:].T
        products = products.toarray() if sparse.issparse(products) else products
        for i, row in enumerate(products, start):
            sums = norms[i] + norms[i + 1 :]
            squared = sums - 2.0 * row[i + 1 - start :]
            rounded.append(sums[squared < ACCURATE * smallest * sums])
            squared[squared < smallest * sums] = 0.0
            pairs.append(np.sqrt(squared))
    return np.concatenate(pairs), np.sqrt(ACCURATE * smallest * np.concatenate(rounded))


def _manhattan(X):
    if not sparse.issparse(X):
        return pdist(X, "cityblock")
    from sklearn.metrics.pairwise import manhattan_distances  # slow to import, and needed here only

    # It takes 32-bit indices only.
    parts = (X.data.astype(np.float64), X.indices.astype(np.int32), X.indptr.astype(np.int32))
    distances = manhattan_distances(sparse.csr_matrix(parts, shape=X.shape))
    return distances[np.triu_indices_from(distances, k=1)]


@np.errstate(over="ignore", invalid="ignore")  # a variance that overflows is refused
def scale(X):
    """Return scikit-learn's ``gamma="scale"``, 1 / (d · variance of all entries of X); 1 if they are all equal.

    A variance within the rounding error of the mean counts as 0 (scikit-learn gives 4e32 for equal entries of 0.1).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the variance overflows or underflows.
    """
    # In two passes and in float64: the mean of the squares minus the squared mean cancels.
    n_entries = X.shape[0] * X.shape[1]
    if sparse.issparse(X):
        stored = np.asarray(as_rows(X).data, dtype=np.float64)
        mean = stored.sum() / n_entries
        squares = np.square(stored - mean).sum() + (n_entries - len(stored)) * mean**2
    else:
        mean = X.sum(dtype=np.float64) / n_entries
        height = max(1, CHUNK_VALUES // max(1, X.shape[1]))
        squares = 0.0
        for start in range(0, X.shape[0], height):
            squares += np.square(X[start : start + height] - mean, dtype=np.float64).sum()
    check_variance(squares / n_entries, mean, lambda: has_unequal_entries(X))
    return float(n_entries / (X.shape[1] * float(squares))) if is_spread(squares / n_entries, mean) else 1.0


def check_variance(variance, mean, are_unequal):
    """Raise ValueError if the variance of entries overflows, or underflows though they are not all equal.

    Parameters
    ----------
    variance, mean : float
    are_unequal : callable
        Returns whether the entries are not all equal; called only if the variance is close to 0.
    """
    if not np.isfinite(variance) and not np.isnan(mean):
        problem = "large"
    elif max(variance, (ROUNDINGS * EPS * mean) ** 2) < TINY and are_unequal():
        problem = "small"
    else:
        return
    raise ValueError(f"the variance of X is too {problem} for gamma='scale': scale the features")


def has_unequal_entries(X):
    """Whether the entries of X are not all equal."""
    return X.shape[0] > 0 and X.max() > X.min()  # those of a sparse X count zeros that are not stored


def is_spread(variance, mean):
    """Whether a variance exceeds the rounding error of the mean."""
    return variance > (ROUNDINGS * EPS * mean) ** 2
