"""How scores are computed, in plain NumPy: from features or a kernel.

A design maps an element f of a Hilbert space H to its scores, f(x_1), …, f(x_n), and takes values g_i at the
samples back to the element sum_i g_i k(x_i, .). An element is an array of coefficients: the d weights w where
there are features (k the inner product), the n coefficients of the k(x_i, .) where there is a kernel.
"""

import numpy as np
from scipy import sparse

from kernbench.problems.linear.empty_columns import without_empty_columns
from kernbench.reference.kernels.rows import KernelRows
from kernbench.validation.arrays import check_indices, without_room


def as_design(X):
    """Return the design of features (an array, CSR matrix or blocks of rows) or of kernel rows; or X, if it is one."""
    if isinstance(X, (FeatureDesign, BlockDesign, KernelDesign)):
        return X
    if hasattr(X, "moments"):
        return BlockDesign(X)
    if hasattr(X, "matvec"):
        return KernelDesign(X)
    if sparse.issparse(X):
        check_indices(X)
        X = without_room(X)
    return FeatureDesign(X)


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
        self.n_values = self.X.size
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

    def square_sums(self, h):
        """Return the sum_i h_i x_ik^2 of each column k."""
        return (self.X.multiply(self.X).T if sparse.issparse(self.X) else np.square(self.X).T) @ h

    def moments(self, rows, h, positive, means):
        """Return the sum over `rows` of h_i (x_i - m)(x_i - m)', m the row positive_i of `means`, or the first one."""
        self.n_passes += 1
        centred = self.rows(rows) - (means[0] if positive is None else means[positive[rows].astype(np.intp)])
        return centred.T @ (h[rows][:, None] * centred)

    def without_empty_columns(self):
        """Return the design of the columns that have entries, and their indices; itself and None if these are all."""
        X, columns = without_empty_columns(self.X)
        return (self, None) if columns is None else (FeatureDesign(X), columns)


class BlockDesign:
    """Explicit features that need not lie in memory: sums over rows are sums over blocks of rows.

    Parameters
    ----------
    blocks : object
        ``blocks.parts()`` returns an iterator of the features of successive rows, arrays or CSR matrices, the same
        each time; ``n_rows``, ``n_columns`` and ``n_values`` say how many rows, columns and stored numbers.
    """

    is_kernel = False
    n_kernel_evaluations = 0

    def __init__(self, blocks):
        self.blocks = blocks
        self.n_samples, self.n_coef, self.n_values = blocks.n_rows, blocks.n_columns, blocks.n_values
        self.n_passes = 0

    def _parts(self):
        """Yield the design of each block, and the slice of its rows."""
        start = 0
        for X in self.blocks.parts():
            part = FeatureDesign(X)
            yield part, slice(start, start + part.n_samples)
            start += part.n_samples

    def scores(self, coef):
        """Return f(x_i) for all samples, shape (n_samples,)."""
        self.n_passes += 1
        return np.concatenate([part.scores(coef) for part, _ in self._parts()])

    def combine(self, g):
        """Return the element sum_i g_i k(x_i, .), shape (n_coef,)."""
        self.n_passes += 1
        return sum(part.combine(g[rows]) for part, rows in self._parts())

    def inner(self, u, v, scores_of_v):
        """Return <u, v> in H."""
        return u @ v

    def rows(self, indices):
        """Return rows of the features, dense."""
        taken = np.empty((len(indices), self.n_coef))
        for part, rows in self._parts():
            here = (indices >= rows.start) & (indices < rows.stop)
            taken[here] = part.rows(indices[here] - rows.start)
        return taken

    def take(self, indices):
        """Return the design of a subset of the samples, which is held in memory."""
        return FeatureDesign(self.rows(indices))

    def embed(self, coef, indices):
        """Return the coefficients here of an element found on the subset `indices`."""
        return coef

    def square_sums(self, h):
        """Return ones: the sums of squares are not known."""
        return np.ones(self.n_coef)

    def moments(self, rows, h, positive, means):
        """Return the sum over `rows` of h_i (x_i - m)(x_i - m)', m the row positive_i of `means`, or the first one."""
        self.n_passes += 1
        total = np.zeros((self.n_coef, self.n_coef))
        for part, here in self._parts():
            own = rows[(rows >= here.start) & (rows < here.stop)] - here.start
            total += part.moments(own, h[here], None if positive is None else positive[here], means)
        return total

    def without_empty_columns(self):
        """Return this design and None: it keeps all columns."""
        return self, None


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
