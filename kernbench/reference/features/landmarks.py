"""Choices of landmarks in plain NumPy, with the draws of the twins in `kernbench.features`."""

import numpy as np

from kernbench.kernels.functions import Precomputed
from kernbench.reference.kernels.rows import evaluate

MIN_SAMPLE, MAX_SAMPLE = 200, 1000
RELATIVE_DIMENSION = 0.25
KMEANS_ROWS_PER_LANDMARK, KMEANS_ITERATIONS, KMEANS_TOL = 20, 20, 1e-4


def uniform(n, n_landmarks, rng):
    """Return sorted indices drawn without replacement from range(n)."""
    return np.sort(rng.choice(n, n_landmarks, replace=False))


def stratified(y, n_landmarks, rng):
    """Return sorted indices drawn inside each class, in proportion to its size."""
    y = np.asarray(y)
    classes = np.unique(y)
    counts = shares([int(np.sum(y == c)) for c in classes], n_landmarks)
    chosen = [rng.choice(np.flatnonzero(y == c), count, replace=False) for c, count in zip(classes, counts)]
    return np.sort(np.concatenate(chosen))


def shares(sizes, total):
    """Allocate `total` to classes: the last gets its proportion, the others share the remainder.

    Each gets at least one, if there are enough, and at most its size.
    """
    *others, last = sizes
    if not others:
        return [total]
    enough = total >= len(sizes)
    low = max(total - sum(others), 1 if enough else 0)
    high = min(last, total - len(others) if enough else total)
    count = min(max(round(total * last / sum(sizes)), low), high)
    return shares(others, total - count) + [count]


def kmeans(X, n_landmarks, rng):
    """Return the centroids of Lloyd's iterations from random rows, on at most 20 rows per landmark.

    Ends when no row changes its cluster, or when the centroids move by less than 1e-4 of the mean variance
    (squared), or after 20 iterations. No cluster may become empty here.
    """
    if len(X) > KMEANS_ROWS_PER_LANDMARK * n_landmarks:
        X = X[uniform(len(X), KMEANS_ROWS_PER_LANDMARK * n_landmarks, rng)]
    # scikit-learn's KMeans takes a RandomState, and draws the first centroids like this.
    legacy = np.random.RandomState(int(rng.integers(2**31)))
    first = legacy.choice(len(X), n_landmarks, replace=False, p=np.full(len(X), 1 / len(X)))
    centres, clusters = X[first], None
    for _ in range(KMEANS_ITERATIONS):
        before, clusters_before = centres, clusters
        clusters = np.argmin(((X[:, None] - centres) ** 2).sum(axis=2), axis=1)
        centres = np.array([X[clusters == c].mean(axis=0) for c in range(n_landmarks)])
        if np.array_equal(clusters, clusters_before):
            break
        if ((centres - before) ** 2).sum() <= KMEANS_TOL * X.var(axis=0).mean():
            break
    return centres


def leverage(kernel, X, n_landmarks, rng):
    """Return sorted indices drawn without replacement in proportion to approximate ridge leverage scores."""
    scores, _ = ridge_leverage_scores(kernel, X, n_landmarks, rng)
    # Exponential waiting times with these rates: the shortest ones are drawn.
    waiting = rng.standard_exponential(len(X)) / scores
    return np.sort(np.argsort(waiting)[:n_landmarks])


def exact_ridge_leverage_scores(K, ridge):
    """Return the diagonal of K (K + ridge I)^(-1)."""
    return np.diag(K @ np.linalg.inv(K + ridge * np.eye(len(K))))


def ridge_leverage_scores(kernel, X, n_landmarks, rng):
    """Return approximate ridge leverage scores of all rows and their ridge (Musco and Musco, 2017).

    The scores of all rows are estimated from a sample of half of them; that sample is drawn by scores estimated
    from a sample of a quarter; and so on, down to a subset that is small enough to be its own sample.
    """
    n = len(X)
    n_sample = min(max(n_landmarks, MIN_SAMPLE), MAX_SAMPLE)
    dimension = RELATIVE_DIMENSION * min(n_landmarks, n_sample)

    def estimated(rows):
        """Return the scores of `rows`, estimated from a sample of the first half of them."""
        if len(rows) <= n_sample:
            return scores_by_sample(kernel, X, rows, rows, np.ones(len(rows)), dimension)
        half = rows[: (len(rows) + 1) // 2]
        sample, inclusion = sample_of(half)
        return scores_by_sample(kernel, X, rows, sample, inclusion * len(half) / len(rows), dimension)

    def sample_of(rows):
        """Some of `rows`, about `n_sample`, and the probability with which each was drawn."""
        if len(rows) <= n_sample:
            return rows, np.ones(len(rows))
        scores, _ = estimated(rows)
        probability = np.minimum(1.0, n_sample * scores / scores.sum())
        chosen = rng.random(len(rows)) < probability
        chosen[np.argmax(probability)] = True
        return rows[chosen], probability[chosen]

    order = rng.permutation(n)
    scores = np.empty(n)
    scores[order], ridge = estimated(order)
    return scores, ridge


def scores_by_sample(kernel, X, rows, sample, inclusion, dimension):
    """Return (k_ii - k_iS (K_SS + ridge W^(-1))^(-1) k_Si) / ridge, with weights W = 1 / inclusion, and the ridge.

    By eigenvalues: W^(1/2) K_SS W^(1/2) = U S U^T, and W^(1/2) U (S + ridge)^(-1) U^T W^(1/2) is the inverse above.
    """
    weight_root = 1 / np.sqrt(inclusion)
    s, U = np.linalg.eigh(weight_root[:, None] * _values(kernel, X, sample, sample) * weight_root)
    ridge = max(ridge_of_dimension(s, dimension), -2.0 * s[0])  # so that s + ridge is positive
    projected = (_values(kernel, X, rows, sample) * weight_root) @ U
    scores = (np.diag(_values(kernel, X, rows, rows)) - np.sum(projected**2 / (s + ridge), axis=1)) / ridge
    return np.clip(scores, np.finfo(float).eps, 1.0), ridge


def ridge_of_dimension(eigenvalues, dimension):
    """Return the ridge at which sum s / (s + ridge) is `dimension`, by bisection of its logarithm."""
    s = np.maximum(eigenvalues, 0.0)
    if s.max() == 0:
        return 1.0
    low, high = np.log(1e-10 * s.max()), np.log(s.sum() / dimension)
    if high <= low or np.sum(s / (s + np.exp(low))) <= dimension:
        return np.exp(low)
    for _ in range(100):
        middle = (low + high) / 2
        if np.sum(s / (s + np.exp(middle))) > dimension:
            low = middle
        else:
            high = middle
    return np.exp(middle)


def _values(kernel, X, rows, columns):
    return X[np.ix_(rows, columns)] if isinstance(kernel, Precomputed) else evaluate(kernel, X[rows], X[columns])
