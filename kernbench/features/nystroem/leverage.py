"""Ridge leverage scores: the importance of each row for a low-rank approximation of the kernel matrix.

    l_i(ridge) = (K (K + ridge I)^(-1))_ii,        sum_i l_i = effective dimension

Landmarks drawn in proportion to them need fewer columns than uniform ones for the same error when a few rows differ
from most. Exact scores cost n^3. Here they are estimated from a sample S of the rows, with weights W (Musco and Musco,
"Recursive sampling for the Nyström method", NIPS 2017; Rudi, Calandriello, Carratino and Rosasco, "On fast leverage
score sampling and optimal learning", NeurIPS 2018):

    l_i ~ (k_ii - k_iS (K_SS + ridge W^(-1))^(-1) k_Si) / ridge

and the sample is drawn by scores of half of the rows, estimated from a sample of a quarter of them, and so on.
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import brentq

from kernbench.kernels import blocks

MIN_SAMPLE, MAX_SAMPLE = 200, 1000  # rows of the sample; more cost n · sample² and help little
RELATIVE_DIMENSION = 0.25  # effective dimension per landmark (measured: 0.1 to 0.5 are as good)
CHUNK_VALUES = 4_000_000
CALLABLE_ROWS = 64  # rows passed to a Python kernel at a time to compute its diagonal


def ridge_leverage_scores(kernel, X, n_landmarks, rng):
    """Return approximate ridge leverage scores of all rows, at a ridge that suits `n_landmarks`.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
        The matrix K itself for a precomputed kernel.
    n_landmarks : int
    rng : Generator

    Returns
    -------
    scores : ndarray of shape (n,)
        In (0, 1]; exact if n is not above the size of the sample.
    ridge : float

    Notes
    -----
    Some 2 n s kernel values and 2 n s² multiplications, s being the size of the sample (`n_landmarks`, but
    from 200 to 1,000).
    """
    n = X.shape[0]
    diagonal = diagonal_of(kernel, X)
    n_sample = min(max(n_landmarks, MIN_SAMPLE), MAX_SAMPLE)
    dimension = RELATIVE_DIMENSION * min(n_landmarks, n_sample)
    sizes = [n]
    while sizes[-1] > n_sample:
        sizes.append((sizes[-1] + 1) // 2)
    order = rng.permutation(n)
    sample, inclusion = order[: sizes[-1]], np.ones(sizes[-1])
    for size, smaller in zip(sizes[-2::-1], sizes[:0:-1]):
        rows = order[:size]
        inclusion = inclusion * (smaller / size)
        scores, ridge = scores_by_sample(kernel, X, diagonal, rows, sample, inclusion, dimension)
        if size == n:
            break
        probability = np.minimum(1.0, n_sample * scores / scores.sum())
        chosen = rng.random(size) < probability
        chosen[np.argmax(probability)] = True
        sample, inclusion = rows[chosen], probability[chosen]
    else:
        scores, ridge = scores_by_sample(kernel, X, diagonal, order, sample, inclusion, dimension)
    spread = np.empty(n)
    spread[order] = scores
    return spread, ridge


def scores_by_sample(kernel, X, diagonal, rows, sample, inclusion, dimension):
    """Return the scores of `rows` estimated from a sample of them, and the ridge they belong to.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n, d)
    diagonal : ndarray of shape (n,)
        k(x_i, x_i).
    rows, sample : ndarray of indices
    inclusion : ndarray of shape (len(sample),)
        Probability with which each of `sample` was drawn from `rows`.
    dimension : float
        The effective dimension, sum of all scores, that the ridge should give.
    """
    root = 1.0 / np.sqrt(inclusion)
    K = root[:, None] * _values(kernel, X, sample, sample) * root
    eigenvalues = np.linalg.eigvalsh(K)
    # Twice as far as the smallest eigenvalue is below 0, by rounding or because K is that of no kernel.
    ridge = max(ridge_of_dimension(eigenvalues, dimension), -2.0 * float(eigenvalues[0]))
    K[np.diag_indices_from(K)] += ridge
    factor = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    scores = np.empty(len(rows))
    height = max(256, CHUNK_VALUES // len(sample))
    for start in range(0, len(rows), height):
        part = rows[start : start + height]
        columns = (_values(kernel, X, part, sample) * root).T
        columns = solve_triangular(factor, columns, lower=True, overwrite_b=True, check_finite=False)
        scores[start : start + height] = diagonal[part] - np.einsum("ij,ij->j", columns, columns)
    return np.clip(scores / ridge, np.finfo(float).eps, 1.0), ridge


def ridge_of_dimension(eigenvalues, dimension):
    """Return the ridge at which sum_i s_i / (s_i + ridge), the effective dimension, has the given value.

    If the rank is too small for this value, return the smallest ridge that rounding allows.
    """
    eigenvalues = np.maximum(eigenvalues, 0.0)
    largest = eigenvalues.max()
    if largest == 0:
        return 1.0
    low, high = 1e-10 * largest, eigenvalues.sum() / dimension  # at the latter, the sum is below `dimension`

    def excess(log_ridge):
        return np.sum(eigenvalues / (eigenvalues + np.exp(log_ridge))) - dimension

    if high <= low or excess(np.log(low)) <= 0:
        return low
    return float(np.exp(brentq(excess, np.log(low), np.log(high), xtol=1e-12)))


def diagonal_of(kernel, X):
    """Return k(x_i, x_i), float64, shape (n,); a Python kernel is asked in batches."""
    if kernel.routine != "callable":
        return kernel.diagonal(X)
    batches = (X[start : start + CALLABLE_ROWS] for start in range(0, X.shape[0], CALLABLE_ROWS))
    return np.concatenate([kernel.values(batch, batch).diagonal() for batch in batches])


def _values(kernel, X, rows, columns):
    """k(x_i, x_j) for i in `rows` and j in `columns`, float64."""
    if kernel.routine == "precomputed":
        return X[np.ix_(rows, columns)].astype(np.float64, copy=False)
    return blocks.block(kernel, X[rows], X[columns], dtype=np.float64)
