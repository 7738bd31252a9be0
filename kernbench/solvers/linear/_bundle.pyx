"""The mean loss on explicit features, as a risk of scores: what `bundle` minimises."""

from libc.math cimport fabs, sqrt

from kernbench.losses._margin cimport KB_HINGE, KB_LOG_LOSS, margin_slope, margin_value
from kernbench.solvers.design._design cimport Design
from kernbench.solvers.bundle._risk cimport Risk

import numpy as np

from kernbench.problems.draws import stratified_sample

cdef double WIDTH = 0.2    # of the band that counts as the margin, in standard deviations of the scores


cdef class PointwiseRisk(Risk):
    """(1/n) sum_i w_i l(y_i s_i) of scores s."""

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
