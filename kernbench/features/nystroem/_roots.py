"""Roots R of a kernel matrix, R R^T = K^+: the features of landmarks L are k(x, L) R.

    eigen       K = U S U^T,        R = U S^(-1/2)    columns by eigenvalue, orthogonal on the landmarks
    symmetric   K = U S U^T,        R = U S^(-1/2) U^T = K^(-1/2): one column per landmark
    cholesky    P^T K P = C^T C,    R = P C^(-1)      triangular: half the multiplications per row

All give the same inner products. The pivoted factorisation stops where the remaining rows depend linearly on
those before, so only a subset of the landmarks is kept, and the first j columns are the features of the first
j landmarks kept.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from kernbench._warnings import warn

INDEFINITE = 1e-6  # a negative eigenvalue (or pivot) of this share of the largest is more than a rounding error


@dataclass(frozen=True)
class Root:
    """A root of the pseudo-inverse of a kernel matrix of n landmarks.

    Attributes
    ----------
    matrix : ndarray of shape (n_kept, n_columns), float64
    kept : ndarray of shape (n_kept,), intp
        The landmarks its rows belong to.
    eigenvalues : ndarray of shape (n_columns,), or None
        Descending; of the eigen and symmetric roots only.
    """

    matrix: np.ndarray
    kept: np.ndarray
    eigenvalues: np.ndarray | None = None


def eigen_root(K, cut):
    """Return the root U S^(-1/2), without the eigenvalues up to `cut` times the largest.

    The largest entry of each eigenvector is positive, so that the signs do not depend on LAPACK.

    Parameters
    ----------
    K : ndarray of shape (n, n), float64
        Symmetric.
    cut : float

    Warns
    -----
    UserWarning
        If K is not positive semi-definite.
    """
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    largest = values[0]
    _warn_if_indefinite(values[-1], np.abs(values).max(), cut)
    if largest <= 0:
        return Root(np.zeros((len(K), 1)), np.arange(len(K)), np.zeros(1))
    count = np.count_nonzero(values > cut * largest)
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(K))])
    return Root(vectors[:, :count] / np.sqrt(values[:count]), np.arange(len(K)), values[:count])


def symmetric_root(K, cut):
    """Return K^(-1/2) = U S^(-1/2) U^T, without the eigenvalues up to `cut` times the largest.

    Column j belongs to landmark j, and features of the landmarks are K^(1/2). Parameters and warning are those of
    `eigen_root`.
    """
    root = eigen_root(K, cut)
    half = root.matrix * root.eigenvalues**0.25  # R R^T of U S^(-1/4) is symmetric to the last bit
    return Root(half @ half.T, root.kept, root.eigenvalues)


def cholesky_root(K, cut):
    """Return the triangular root of the pivoted Cholesky factorisation, ended at a pivot of `cut` times the
    largest.

    Parameters
    ----------
    K : ndarray of shape (n, n), float64
        Symmetric.
    cut : float

    Warns
    -----
    UserWarning
        If K is not positive semi-definite.
    """
    diagonal = K.diagonal()
    largest = diagonal.max()
    factor, pivots, rank, _ = lapack.dpstrf(K, tol=cut * max(largest, 0.0))
    order = pivots - 1  # LAPACK counts from one
    # Diagonal of the Schur complement: of the landmarks not kept, or of all of them if none is kept.
    left = diagonal[order[rank:]] - np.square(factor[:rank, rank:]).sum(axis=0)
    _warn_if_indefinite(left.min(initial=0.0), largest, cut)
    if rank == 0:
        _warn_if_indefinite(-np.abs(K).max(), largest, cut)
        return Root(np.zeros((1, 1)), order[:1].astype(np.intp))
    inverse, _ = lapack.dtrtri(np.triu(factor[:rank, :rank]))
    return Root(np.ascontiguousarray(inverse), order[:rank].astype(np.intp))


ROOTS = {"cholesky": cholesky_root, "eigen": eigen_root, "symmetric": symmetric_root}


def _warn_if_indefinite(smallest, largest, cut):
    if smallest < -max(INDEFINITE, 10 * cut) * largest:
        warn(
            "the kernel matrix of the landmarks is not positive semi-definite: the function or matrix given is not a "
            "kernel, and the features approximate at most its positive part"
        )
