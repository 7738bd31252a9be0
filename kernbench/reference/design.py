"""How scores are computed, in plain NumPy: from features or a kernel.

A design maps an element f of a Hilbert space H to its scores, f(x_1), …, f(x_n), and takes values g_i at the
samples back to the element sum_i g_i k(x_i, .). An element is an array of coefficients: the d weights w where
there are features (k the inner product), the n coefficients of the k(x_i, .) where there is a kernel.
"""

import numpy as np
from scipy import sparse

from kernbench.reference.kernels.rows import KernelRows


def as_design(X):
    """Return the design of features (an array or CSR matrix) or of kernel rows; a design is returned as it is."""
    if isinstance(X, (FeatureDesign, KernelDesign)):
        return X
    return KernelDesign(X) if hasattr(X, "matvec") else FeatureDesign(X)


def design_of(X, kernel=None, **options):
    """Return the design of features X or, with a kernel, of its matrix; `options` are those of `KernelRows`."""
    return as_design(X if kernel is None else KernelRows(X, kernel, **options))


class FeatureDesign:
    """Explicit features: H is R^d with the inner product of coefficients.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_coef)
    """

    is_kernel = False
    n_kernel_evaluations = 0

    def __init__(self, X):
        self.X = X.tocsr().astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        self.n_samples, self.n_coef = self.X.shape
        self.n_passes = 0

    def scores(self, coef):
        """Return f(x_i) for all samples, shape (n_samples,)."""
        self.n_passes += 1
        return self.X @ coef

    def combine(self, g):
        """Return the element sum_i g_i k(x_i, .), shape (n_coef,)."""
        self.n_passes += 1
        return self.X.T @ g

    def inner(self, u, v, scores_of_v):
        """Return <u, v> in H."""
        return u @ v

    def rows(self, indices):
        """Return rows of X, dense."""
        taken = self.X[indices]
        return taken.toarray() if sparse.issparse(taken) else taken

    def take(self, indices):
        """Return the design of a subset of the samples."""
        return FeatureDesign(self.X[indices])

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        return coef


class KernelDesign:
    """A kernel: H is its reproducing kernel Hilbert space, an element has n coefficients.

    Parameters
    ----------
    rows : KernelRows or ndarray of shape (n_samples, n_samples)
        Gives the whole kernel matrix.
    """

    is_kernel = True

    def __init__(self, rows):
        if isinstance(rows, np.ndarray):
            self.K, self.n_kernel_evaluations = rows, 0
        else:
            everything = np.arange(rows.n_rows)
            self.K = np.asarray(rows.block(everything, everything), dtype=np.float64)
            self.n_kernel_evaluations = self.K.size
        self.n_samples = self.n_coef = len(self.K)
        self.n_passes = 0

    def scores(self, coef):
        """Return f(x_i) for all samples, shape (n_samples,)."""
        self.n_passes += 1
        return self.K @ coef

    def combine(self, g):
        """Return the element sum_i g_i k(x_i, .): its coefficients are g."""
        return g.copy()

    def inner(self, u, v, scores_of_v):
        """Return <u, v> = u' K v."""
        return u @ scores_of_v

    def take(self, indices):
        """Return the design of a subset of the samples."""
        return KernelDesign(self.K[np.ix_(indices, indices)])

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        whole = np.zeros(self.n_coef)
        whole[indices] = coef
        return whole
