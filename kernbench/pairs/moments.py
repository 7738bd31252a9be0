"""The squared pairwise loss by moments: class means and variances tell what the pairs add, in O(n).

The mean over all pairs of (1 - (a_i - b_j))^2 is (1 - (mean a - mean b))^2 + var a + var b, all weighted.
"""

import numpy as np
from numpy.typing import ArrayLike

from kernbench.pairs.checks import binary_problem, checked_scores


def squared_loss_and_gradient(
    y: ArrayLike, scores: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[float, np.ndarray]:
    """Mean of (1 - (s_i - s_j))^2 over all pairs of a positive i and a negative j, and its gradient.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    scores : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; the pair (i, j) weighs w_i w_j.

    Returns
    -------
    loss : float
    gradient : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If labels, weights or scores are invalid, or squares of scores overflow.
    """
    classes = list(_classes(y, sample_weight))
    s = checked_scores(scores, len(y))
    gradient = np.empty(len(s))
    with np.errstate(over="ignore", invalid="ignore"):
        means = [shares @ s[members] for members, shares in classes]
        excess = 1 - (means[0] - means[1])
        loss = excess**2
        for (members, shares), mean, side in zip(classes, means, (-1, 1)):
            centred = s[members] - mean
            loss += shares @ centred**2
            gradient[members] = 2 * shares * (centred + side * excess)
    if not np.isfinite(loss):
        raise ValueError("the scores are too far apart for float64 arithmetic: rescale them")
    return float(loss), gradient


def squared_hessian_product(y: ArrayLike, v: ArrayLike, sample_weight: ArrayLike | None = None) -> np.ndarray:
    """The Hessian of the mean squared pairwise loss, which does not depend on the scores, times v.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    v : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
        At least 0.

    Returns
    -------
    ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If labels, weights or v are invalid, or differences of entries of v overflow.
    """
    classes = list(_classes(y, sample_weight))
    v = checked_scores(v, len(y), name="v")
    product = np.empty(len(v))
    with np.errstate(over="ignore", invalid="ignore"):
        means = [shares @ v[members] for members, shares in classes]
        for (members, shares), opposite in zip(classes, reversed(means)):
            product[members] = 2 * shares * (v[members] - opposite)
    if not np.all(np.isfinite(product)):
        raise ValueError("the entries of v are too far apart for float64 arithmetic: rescale them")
    return product


def difference_moments(
    X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """First and second moment of the differences x_i - x_j over all pairs of a positive i and a negative j.

    With them the squared loss of a linear score is explicit: the mean of (1 - w'(x_i - x_j))^2 is
    1 - 2 w'm + w'Mw, and its regularised minimiser solves (alpha I + 2 M) w = 2 m.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Dense.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1, or a boolean mask of the positives.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0.

    Returns
    -------
    m : ndarray of shape (n_features,)
    M : ndarray of shape (n_features, n_features)

    Raises
    ------
    ValueError
        If rows, labels or weights are invalid, or products of differences overflow.
    """
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or len(X) != len(y):
        raise ValueError(f"X must have shape ({len(y)}, n_features), got {X.shape}")
    if not np.all(np.isfinite(X)):
        raise ValueError("X must be finite, but contains NaN or infinity")
    means, second = [], np.zeros((X.shape[1], X.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for members, shares in _classes(y, sample_weight):
            rows = X[members]
            means.append(shares @ rows)
            rows = (rows - means[-1]) * np.sqrt(shares)[:, None]
            second += rows.T @ rows
        first = means[0] - means[1]
        second += np.outer(first, first)
    if not np.all(np.isfinite(second)):  # nor would its diagonal be if `first` were not
        raise ValueError("the rows of X are too far apart for float64 arithmetic: rescale them")
    return first, second


def _classes(y, sample_weight):
    """The positives and the negatives: which samples, and what share of the class each is."""
    positive, weights = binary_problem(y, sample_weight)
    for members in (np.flatnonzero(positive), np.flatnonzero(~positive)):
        shares = np.ones(len(members)) if weights is None else weights[members]
        yield members, shares / shares.sum()
