"""Lipschitz constants of the gradient for blocks of features: step lengths of block coordinate descent."""

import inspect

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

EXACT = 256  # blocks of at most this many features: form the Gram matrix
ROOM = 1 << 22  # entries of X converted at a time
SAFETY = 1.01  # factor on an eigenvalue computed by the Lanczos method to 1e-3
TAKES_RNG = "rng" in inspect.signature(eigsh).parameters  # without it seeded by the operating system


def block_constants(columns, ends, problem):
    """Return L_I = l'' lmax(X_I' diag(w) X_I) / n + alpha for each block of neighbouring features.

    Parameters
    ----------
    columns : FeatureDesign
        The design of X', features by examples.
    ends : ndarray of shape (b + 1,), int
        Block I begins at ends[I] and ends before ends[I + 1].
    problem : LinearProblem
        A problem with a smooth loss.

    Returns
    -------
    ndarray of shape (b,)
    """
    roots = np.sqrt(problem.weights)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.array([_largest_eigenvalue(columns.X[a:b], roots) for a, b in zip(ends[:-1], ends[1:])])
    constants = problem.loss.smoothness * largest / problem.n + problem.alpha
    if not np.all(np.isfinite(constants)):
        raise ValueError("features are not finite, or too large to compute with: scale them")
    return constants


def _largest_eigenvalue(rows, roots):
    """The largest eigenvalue of B B' for B = rows diag(roots)."""
    size, n = rows.shape
    if size > EXACT:
        gram = LinearOperator((size, size), matvec=lambda v: rows @ (roots**2 * (rows.T @ v.ravel())), dtype=np.float64)
        start, rng = np.ones(size), np.random.default_rng(0)  # fixed, so that runs are reproducible
        if not gram.matvec(start).any():  # ARPACK takes no start that is orthogonal to all rows
            start = rng.normal(size=size)
            if not gram.matvec(start).any():
                return 0.0
        draws = {"rng": rng} if TAKES_RNG else {}
        return SAFETY * eigsh(gram, k=1, v0=start, tol=1e-3, return_eigenvectors=False, **draws)[0]
    gram, step = np.zeros((size, size)), max(1, ROOM // size)
    if hasattr(rows, "indptr"):
        scaled = rows.astype(np.float64).multiply(roots[None, :]).tocsr()
        gram = (scaled @ scaled.T).toarray()
    else:
        for first in range(0, n, step):
            part = rows[:, first : first + step] * roots[first : first + step]
            gram += part @ part.T
    return np.linalg.eigvalsh(gram)[-1] if np.all(np.isfinite(gram)) else np.inf
