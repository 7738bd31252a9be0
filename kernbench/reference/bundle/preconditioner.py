"""A preconditioner: the Hessian of the objective, with the two members of a pair taken as independent."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

LARGEST = 1500  # features up to which the d x d matrix is formed
ROWS = 4096  # sum over at least this many samples
RIDGE = 1e-12  # of each diagonal entry: columns of any scale are treated alike
ATTEMPTS = 5  # to factorise, each with a hundred times the ridge of the last


def preconditioner_rows(n_samples, n_coef, rng):
    """Draw the samples to sum over: all, or as many as cost no more than a few passes over X."""
    size = max(ROWS, 64 * n_samples // n_coef)
    return np.arange(n_samples) if size >= n_samples else np.sort(rng.choice(n_samples, size, replace=False))


def preconditioner_for(design, positive, alpha, rng):
    """Return the preconditioner for few features, None for kernels and for many.

    For a mean over pairs `positive` holds the classes; for a mean over samples it is None. If only some rows are
    summed, they are drawn from `rng`.
    """
    if design.is_kernel or design.n_coef > LARGEST:
        return None
    return Preconditioner(design, positive, alpha, preconditioner_rows(design.n_samples, design.n_coef, rng))


class Preconditioner:
    """M = alpha I + sum_i h_i (x_i - mu)(x_i - mu)' + W (mu_+ - mu_-)(mu_+ - mu_-)', mu the h-weighted class mean.

    The Hessian of a mean over pairs is E[h_ij (x_i - x_j)(x_i - x_j)']; with h_ij = h_i h_j / W, W = sum of
    the h_i of one class, it is the matrix above. The Hessian of a mean over samples is alpha I + sum_i h_i
    x_i x_i'.

    Parameters
    ----------
    design : FeatureDesign
    positive : ndarray of shape (n_samples,), bool, or None
        The classes of pairs; None for a mean over samples.
    alpha : float
    rows : ndarray of int
        The samples to sum over.
    n_free : int, default=0
        How many of the last coefficients have no penalty.
    """

    def __init__(self, design, positive, alpha, rows, n_free=0):
        self.design, self.positive, self.alpha, self.rows = design, positive, alpha, rows
        self.n_free = n_free
        self.hessian = np.empty((0, 0))  # M - alpha I, once it is fitted

    def fit(self, h):
        """Take the weights h of the samples, shape (n_samples,)."""
        design, share, means = self.design, len(h) / len(self.rows), np.zeros((2, self.design.n_coef))
        if self.positive is None:
            self.hessian = share * self._moments(h, means)
            self._factorise()
            return
        for label in (0, 1):
            members = self.positive == label
            weight = h[members].sum()
            if weight > 0:
                means[label] = design.combine(np.where(members, h, 0.0)) / weight
        M = share * self._moments(h, means)
        difference = means[1] - means[0]
        self.hessian = M + h[self.positive].sum() * np.outer(difference, difference)
        self._factorise()

    def _moments(self, h, means):
        used = self.rows[h[self.rows] > 0]
        if len(used) == 0:
            return np.zeros((self.design.n_coef, self.design.n_coef))
        return self.design.moments(used, h, self.positive, means)

    @property
    def fitted(self):
        """Whether there is a Hessian."""
        return bool(len(self.hessian))

    def state(self):
        """Return the fitted Hessian, which does not depend on alpha; an empty matrix before the first fit."""
        return self.hessian.copy()

    def load(self, hessian):
        """Take the Hessian of another preconditioner, if it was fitted."""
        if hessian.shape == (self.design.n_coef,) * 2:
            self.hessian = hessian
            self._factorise()

    def _factorise(self):
        diagonal = np.diag(self.hessian)
        penalty = np.full(len(diagonal), self.alpha)
        free = slice(len(diagonal) - self.n_free, None)
        penalty[free] = np.where(diagonal[free] == 0, 1.0, 0.0)  # 1: no sample has a curvature
        for attempt in range(ATTEMPTS):
            ridge = RIDGE * 100.0**attempt * diagonal
            try:
                self.factor = cho_factor(self.hessian + np.diag(ridge + penalty), lower=True)
                return
            except np.linalg.LinAlgError:
                continue  # rounding made it indefinite
        raise ValueError("scores are not finite, or too large to compute with: scale the features, or raise alpha")

    def solve(self, v):
        """Return M^-1 v."""
        return cho_solve(self.factor, v)

    def half_solve(self, V):
        """Return V L^-T for M = L L': rows whose inner products are v' M^-1 w for rows v, w of V."""
        return solve_triangular(self.factor[0], V.T, lower=True).T
