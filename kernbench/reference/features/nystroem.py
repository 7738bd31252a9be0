"""The Nyström map in plain NumPy, float64.

K = k(L, L) for landmarks L,      phi(x) = k(x, L) R,      R R^T = K^+
"""

import numpy as np

from kernbench._random import as_generator
from kernbench.kernels.functions import Precomputed
from kernbench.reference.features import landmarks as choices
from kernbench.reference.kernels.rows import evaluate


class Nystroem:
    """Features from landmarks: those of `kernbench.features.Nystroem`, up to rounding.

    Parameters
    ----------
    kernel : Kernel
        A kernel object; names and ``gamma`` are resolved as by the twin.
    n_landmarks : int, default=100
    landmarks : {"uniform", "stratified", "kmeans", "leverage"}, matrix of rows or vector of indices, default="uniform"
    root : {"cholesky", "eigen", "symmetric"}, default="cholesky"
    rank_tol : float, default=1e-10
    random_state : int, Generator or None, default=None
        Used in the order of the twin.
    """

    def __init__(
        self, kernel, n_landmarks=100, *, landmarks="uniform", root="cholesky", rank_tol=1e-10, random_state=None
    ):
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.root = root
        self.rank_tol = rank_tol
        self.random_state = random_state

    def fit(self, X, y=None):
        """Choose landmarks and factorise their kernel matrix."""
        X = np.asarray(X, dtype=np.float64)
        rng = as_generator(self.random_state)
        rng.integers(2**63)  # the twin's seed of gamma="median"
        m = min(self.n_landmarks, len(X))
        if np.ndim(self.landmarks) == 2:
            indices, rows = np.arange(len(self.landmarks)), np.asarray(self.landmarks, dtype=np.float64)
        elif isinstance(self.landmarks, str) and self.landmarks == "kmeans":
            indices, rows = np.arange(m), choices.kmeans(X, m, rng)
        else:
            indices = self._indices(X, y, m, rng)
            rows = X[indices]
        precomputed = isinstance(self.kernel, Precomputed)
        K = X[np.ix_(indices, indices)] if precomputed else evaluate(self.kernel, rows)
        root = {"cholesky": cholesky_root, "eigen": eigen_root, "symmetric": symmetric_root}[self.root]
        cut = max(self.rank_tol, len(K) * np.finfo(float).eps)
        self.normalization_, kept = root(K, cut)
        self.landmark_indices_, self.landmarks_ = indices[kept], rows[kept]
        return self

    def _indices(self, X, y, m, rng):
        if not isinstance(self.landmarks, str):
            return np.asarray(self.landmarks)
        if self.landmarks == "stratified":
            return choices.stratified(y, m, rng)
        if self.landmarks == "leverage":
            return choices.leverage(self.kernel, X, m, rng)
        return choices.uniform(len(X), m, rng)

    def transform(self, X):
        """Return k(X, L) R."""
        X = np.asarray(X, dtype=np.float64)
        if isinstance(self.kernel, Precomputed):
            return X[:, self.landmark_indices_] @ self.normalization_
        return evaluate(self.kernel, X, self.landmarks_) @ self.normalization_


def eigen_root(K, cut):
    """Return R = U S^(-1/2) of K = U S U^T without the small eigenvalues, largest first, and all indices.

    The largest entry of each eigenvector is positive. Of K = 0 a column of zeros is left.
    """
    values, vectors = np.linalg.eigh(K)
    if values[-1] <= 0:
        return np.zeros((len(K), 1)), np.arange(len(K))
    columns = []
    for j in reversed(range(len(K))):
        u = vectors[:, j]
        if values[j] > cut * values[-1]:
            columns.append(u / np.sqrt(values[j]) * np.sign(u[np.argmax(np.abs(u))]))
    return np.column_stack(columns), np.arange(len(K))


def symmetric_root(K, cut):
    """Return K^(-1/2) = U S^(-1/2) U^T without the small eigenvalues, and all indices."""
    values, vectors = np.linalg.eigh(K)
    used = values > cut * values[-1]
    return (vectors[:, used] / np.sqrt(values[used])) @ vectors[:, used].T, np.arange(len(K))


def cholesky_root(K, cut):
    """Return R = C^(-1) of the pivoted factorisation K[kept, kept] = C^T C, and kept.

    The next landmark has the largest remaining diagonal entry; the factorisation ends when that is negligible. Of K = 0
    a column of zeros is left.
    """
    left = K.copy()  # K minus its projection onto the kept landmarks
    floor = cut * K.diagonal().max()
    kept, rows = [], []
    while len(kept) < len(K):
        pivot = int(np.argmax(left.diagonal()))
        if left[pivot, pivot] <= floor:
            break
        row = left[pivot] / np.sqrt(left[pivot, pivot])
        left -= np.outer(row, row)
        left[kept + [pivot], kept + [pivot]] = 0.0  # exactly, despite rounding
        kept.append(pivot)
        rows.append(row)
    if not kept:
        return np.zeros((1, 1)), np.array([0])
    C = np.triu(np.array(rows)[:, kept])
    return np.linalg.inv(C), np.array(kept)
