"""The mean loss on explicit features, as a risk of scores: what `solvers.linear.bundle` minimises."""

from copy import copy

import numpy as np

from kernbench.losses.margin import Hinge, SquaredHinge
from kernbench.problems.draws import stratified_sample
from kernbench.reference.bundle.risk import Risk

WIDTH = 0.2  # of the band that counts as the margin, in standard deviations of the scores


class PointwiseRisk(Risk):
    """(1/n) sum_i w_i l(y_i s_i) of scores s."""

    centred_by = None  # nothing: the Hessian of a mean over samples involves no class means

    def __init__(self, problem):
        self._hold(problem.design, problem.alpha, problem.loss, problem.y, problem.weights, problem.weights / problem.n)

    def _hold(self, design, alpha, loss, y, weights, shares):
        self.design, self.n, self.alpha, self.loss = design, len(y), alpha, loss
        self.y, self.weights, self.shares, self.positive = y, weights, shares, y > 0
        self.at_zero = float(loss.value(np.zeros(()))) * shares.sum()

    def risk(self, scores):
        """Return the mean loss at these scores and its (sub)gradient with respect to them."""
        margins = self.y * scores
        return self.shares @ self.loss.value(margins), self.shares * self.y * self.loss.slope(margins)

    def density(self, scores):
        """Return w_i l''(m_i) / n, shape (n,).

        For the hinge, that of a hinge smoothed over a band around the margin; if all scores are equal, at f = 0, that
        of the squared loss.
        """
        margins, width = self.y * scores, WIDTH * np.std(scores)
        if self.loss is Hinge:
            if width > 0:
                return self.shares * (np.abs(1 - margins) < width) / (2 * width)
            return self.shares * SquaredHinge.curvature(margins)
        return self.shares * self.loss.curvature(margins)

    def settings(self):
        """Return alpha and the loss, on which the risk depends besides the data."""
        return np.array([self.alpha, self.loss.code], dtype=np.float64)

    def sample(self, rng, size):
        """Return the indices of about `size` samples for a smaller problem."""
        return np.arange(self.n) if size >= self.n else stratified_sample(rng, self.positive, self.weights, size)

    def take(self, indices, design=None):
        """Return the problem on a subset of the samples, weighted to represent their classes."""
        part, taken, of_taken = copy(self), self.shares[indices], self.positive[indices]
        for label in (True, False):
            taken[of_taken == label] *= self.shares[self.positive == label].sum() / taken[of_taken == label].sum()
        part._hold(design, self.alpha, self.loss, self.y[indices], self.weights[indices], taken)
        return part
