"""The bundle method on explicit features: cutting planes of the mean loss (see `solvers/_cutting_planes`)."""

from libc.math cimport fabs, sqrt

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS, margin_slope, margin_value
from kernbench.solvers.bundle._cutting_planes cimport CuttingPlanes
from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._risk cimport Risk

import numpy as np

from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.draws import stratified_sample

cdef double WIDTH = 0.2    # of the band that counts as the margin, in standard deviations of the scores


cdef class PointwiseRisk(Risk):
    """(1/n) sum_i w_i l(y_i s_i) of scores s.

    Parameters
    ----------
    problem : LinearProblem
    """

    cdef int loss
    cdef const double[::1] y
    cdef double[::1] shares    # w_i / n

    def __init__(self, problem):
        self._hold(problem.design, problem.alpha, problem.loss.code, problem.y, problem.weights,
                   problem.weights / problem.n)

    def _hold(self, design, alpha, loss, y, weights, shares):
        self.design, self.n, self.alpha, self.loss = design, len(y), alpha, loss
        self.y, self.weights, self.shares, self.positive = y, weights, shares, y > 0
        self.centred_by = None     # the Hessian of a mean over samples involves no class means
        self.at_zero = margin_value(self.loss, 0.0) * np.sum(shares)

    cdef double risk(self, const double *scores, double *gradient) noexcept nogil:
        cdef Py_ssize_t i
        cdef double total = 0.0, margin
        for i in range(self.n):
            margin = self.y[i] * scores[i]
            total += self.shares[i] * margin_value(self.loss, margin)
            if gradient != NULL:
                gradient[i] = self.shares[i] * self.y[i] * margin_slope(self.loss, margin)
        return total

    cdef int density(self, const double *scores, double *h) except -1 nogil:
        """w_i l''(m_i) / n. For the hinge, that of a hinge smoothed over a band around the margin; if all scores are
        equal, at f = 0, that of the squared loss."""
        cdef Py_ssize_t i
        cdef double mean = 0.0, width = 0.0, margin, slope, curvature
        for i in range(self.n):
            mean += scores[i] / self.n
        for i in range(self.n):
            width += (scores[i] - mean) * (scores[i] - mean) / self.n
        width = WIDTH * sqrt(width)
        for i in range(self.n):
            margin = self.y[i] * scores[i]
            if self.loss == KB_LOG_LOSS:
                slope = margin_slope(self.loss, margin)
                curvature = -slope * (1.0 + slope)
            elif self.loss == KB_HINGE and width > 0.0:
                curvature = 0.5 / width if fabs(1.0 - margin) < width else 0.0
            else:
                curvature = 2.0 if margin < 1.0 else 0.0
            h[i] = self.shares[i] * curvature
        return 0

    def settings(self):
        """Return alpha and the loss, on which the risk depends besides the data."""
        return np.array([self.alpha, self.loss], dtype=np.float64)

    def sample(self, rng, size):
        """Return the indices of about `size` samples for a smaller problem."""
        return np.arange(self.n) if size >= self.n else stratified_sample(rng, self.positive, self.weights, size)

    def take(self, indices, Design design=None):
        """Return the problem on a subset of the samples, weighted to represent their classes."""
        cdef PointwiseRisk part = PointwiseRisk.__new__(PointwiseRisk)
        shares, positive = np.asarray(self.shares), self.positive
        taken, of_taken = shares[indices], positive[indices]
        for label in (True, False):
            taken[of_taken == label] *= shares[positive == label].sum() / taken[of_taken == label].sum()
        part._hold(design, self.alpha, self.loss, np.asarray(self.y)[indices], self.weights[indices], taken)
        return part


cdef class Bundle(CuttingPlanes):
    """Bundle method for alpha/2 ||w||^2 + (1/n) sum_i w_i l(y_i <w, x_i>).

    Parameters
    ----------
    design : FeatureDesign
        Made by `as_design`.
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        Ones by default.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    tol : float, default=1e-3
        Converged when the gap is at most `tol` times the objective.
    max_cuts : int, default=200
        Largest number of cuts kept, at least 3; beyond it, the two of least weight are merged.
    random_state : None, int, RandomState or Generator
        For the sample of the first fit.
    initial : Solution, optional
        Continue a solution of this solver: exactly for the same `alpha`, else with its cuts, which do not depend on
        alpha. Other coefficients are a starting point.

    Attributes
    ----------
    n_cuts : int
        Cuts held now.
    n_passes : int
        Products with the data, or with the kernel matrix, so far.
    n_inner_products : int
        n_samples for each of them.

    References
    ----------
    Joachims, KDD 2006; Franc and Sonnenburg, JMLR 10 (2009); Teo, Vishwanathan, Smola, Le, JMLR 11 (2010).
    """

    losses = ("hinge", "squared_hinge", "log_loss")

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", tol=1e-3, max_cuts=200, random_state=None,
                 initial=None):
        rng = self._settle(tol, max_cuts, random_state, initial)
        problem = LinearProblem(design, y, alpha=alpha, weights=weights, loss=loss, offered=self.losses)
        self._set_up(PointwiseRisk(problem), rng, initial)
