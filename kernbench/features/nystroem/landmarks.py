"""Choice of the landmarks of the Nyström map: rows, centroids of rows, or what the user gives."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names, check_array, column_or_1d
from threadpoolctl import threadpool_limits

from kernbench.features.nystroem.leverage import ridge_leverage_scores
from kernbench.validation.arrays import check_indices, without_duplicates
from kernbench.validation.numbers import check_name
from kernbench.validation.rows import check_same_columns

LANDMARKS = ("uniform", "stratified", "kmeans", "leverage")
OWN = "own"  # the choice where the user gives rows or indices
KMEANS_ROWS_PER_LANDMARK = 20  # largest number of rows passed to k-means
KMEANS_ITERATIONS = 20


def choice_of(landmarks):
    """Return the name that the parameter ``landmarks`` gives, or `OWN` if it is an array."""
    return landmarks if isinstance(landmarks, str) else OWN


def check_landmarks(landmarks):
    """Raise ValueError unless the parameter is a name, a matrix of rows or a vector of indices."""
    if isinstance(landmarks, str) or np.ndim(landmarks) == 0:
        check_name("landmarks", landmarks, LANDMARKS)
    elif not (are_indices(landmarks) or np.ndim(landmarks) == 2):
        raise ValueError(
            "landmarks must be a name, rows of shape (m, n_features), or a vector of m integers, the indices of rows "
            f"of X; got an array of shape {np.shape(landmarks)} and dtype {np.asarray(landmarks).dtype}"
        )


def are_indices(landmarks):
    """Whether the parameter is a vector of integers."""
    return not isinstance(landmarks, str) and np.ndim(landmarks) == 1 and np.asarray(landmarks).dtype.kind in "iu"


def own_indices(landmarks, n_rows):
    """Return the user's indices of training rows, checked."""
    indices = np.asarray(landmarks)
    if len(indices) == 0 or indices.min() < 0 or indices.max() >= n_rows:
        raise ValueError(f"landmarks must be indices from 0 to {n_rows - 1}, at least one, got {landmarks!r}")
    return indices.astype(np.intp)


def check_columns(landmarks, names):
    """Raise ValueError for a table of landmarks whose columns are not those of X, called `names`, in their order."""
    if names is not None and not isinstance(landmarks, str):
        check_same_columns("landmarks", _get_feature_names(landmarks), "X", names)


def own_rows(landmarks, X):
    """Return the user's rows, checked to be finite and as wide as X, in the format and precision of X."""
    check_indices(landmarks)
    rows = check_array(landmarks, accept_sparse="csr", dtype=X.dtype, order="C", input_name="landmarks")
    if rows.shape[1] != X.shape[1]:
        raise ValueError(f"landmarks has {rows.shape[1]} columns, but X has {X.shape[1]}: landmarks are rows like X's")
    like = X[np.arange(1)]
    if sparse.issparse(like):
        return without_duplicates(type(like)(rows))
    return rows.toarray() if sparse.issparse(rows) else rows


def uniform(X, n_landmarks, rng):
    """Return the sorted indices of rows drawn without replacement."""
    return np.sort(rng.choice(X.shape[0], n_landmarks, replace=False))


def stratified(y, n_landmarks, rng):
    """Return the sorted indices of rows drawn without replacement inside each class, in proportion to its
    size.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    n_landmarks : int
    rng : Generator

    Raises
    ------
    ValueError
        If `y` does not hold labels.
    """
    y = column_or_1d(y, warn=True)
    try:
        check_classification_targets(y)
    except ValueError as error:
        advice = "give class labels as y, or choose 'uniform' or 'leverage'"
        raise ValueError(f"landmarks='stratified' needs class labels. {error} Here: {advice}") from error
    _, codes = np.unique(y, return_inverse=True)
    counts = shares(np.bincount(codes), n_landmarks)
    chosen = [rng.choice(np.flatnonzero(codes == c), count, replace=False) for c, count in enumerate(counts)]
    return np.sort(np.concatenate(chosen))


def shares(sizes, total):
    """Allocate `total` landmarks to classes in proportion to their sizes.

    The last class gets total · size / n, rounded; the one before it the same share of the remainder, and so on. Each
    class gets at least one landmark if there are as many landmarks as classes, and at most its number of rows.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each class.
    total : int
        At most their sum.

    Returns
    -------
    list of int
    """
    sizes = [int(size) for size in sizes]
    counts, rows_left = [], sum(sizes)
    for c in reversed(range(len(sizes))):
        others = rows_left - sizes[c]
        one_each = total > c
        at_least = max(total - others, int(one_each))
        at_most = min(sizes[c], total - c if one_each else total)
        count = min(max(round(total * sizes[c] / rows_left), at_least), at_most)
        counts.append(count)
        total, rows_left = total - count, others
    return counts[::-1]


def leverage(kernel, X, n_landmarks, rng):
    """Return sorted indices drawn without replacement in proportion to ridge leverage scores."""
    scores, _ = ridge_leverage_scores(kernel, X, n_landmarks, rng)
    # The n smallest of exponential waiting times with these rates: a draw one by one without replacement.
    waiting = rng.standard_exponential(X.shape[0]) / scores
    return np.sort(np.argpartition(waiting, n_landmarks - 1)[:n_landmarks])


def kmeans(X, n_landmarks, rng):
    """Return the centroids of k-means clusters (Zhang and Kwok, 2010), stored as X is.

    Lloyd's iterations from random rows, on at most 20 rows per landmark.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    n_landmarks : int
    rng : Generator

    Returns
    -------
    ndarray or CSR matrix of shape (n_landmarks, d)
        Each coordinate lies between the smallest and the largest value of its column: centroids are in the kernel's
        domain if it is convex, as rows are.
    """
    from sklearn.cluster import KMeans  # slow to import; the other choices need none of it

    n_rows = min(X.shape[0], KMEANS_ROWS_PER_LANDMARK * n_landmarks)
    if n_rows < X.shape[0]:
        X = X[uniform(X, n_rows, rng)]
    if sparse.issparse(X) and X.indices.dtype != np.int32:
        X = _with_short_indices(X)
    model = KMeans(
        n_landmarks, init="random", n_init=1, max_iter=KMEANS_ITERATIONS, random_state=int(rng.integers(2**31))
    )
    # One thread: with more, the order of KMeans's summation depends on which of them finishes first.
    with threadpool_limits(1, user_api="openmp"):
        centres = _without_warning_of_few_clusters(model.fit, X).cluster_centers_.astype(X.dtype, copy=False)
    if not sparse.issparse(X):
        return np.clip(centres, X.min(axis=0), X.max(axis=0))
    low, high = (bound.toarray().ravel() for bound in (X.min(axis=0), X.max(axis=0)))
    return type(X)(np.clip(centres, low, high))


def _with_short_indices(X):
    """Return the CSR matrix with 32-bit indices, the only ones that KMeans takes."""
    if X.nnz >= 2**31 or X.shape[1] >= 2**31:
        raise ValueError(f"landmarks='kmeans' takes at most 2^31 stored entries, got {X.nnz}; choose 'uniform'")
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _without_warning_of_few_clusters(fit, X):
    """Equal rows make equal centroids, which is fine here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(X)
