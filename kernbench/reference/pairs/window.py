"""A window of the negatives as the difference of two convex functions, in plain NumPy.

phi_kappa is the largest sum of pair losses that a mass kappa of the negatives can have. The loss of a pair rises with
the negative's score, so that mass is the same for every positive: the highest scores, the last of them in part.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.pairs.checks import binary_problem, checked_scores
from kernbench.pairs.window import window_of
from kernbench.reference.pairs.pairs import AllPairs


def top_shares(values, weights, mass):
    """Return how much of each value belongs to the largest ones that weigh `mass` together; ties by index."""
    order = np.argsort(-values, kind="stable")
    before = np.cumsum(weights[order]) - weights[order]
    shares = np.empty(len(values))
    shares[order] = np.clip(mass - before, 0, weights[order])
    return shares


class RankedLoss:
    """upper - lower, both convex functions of the scores; a subclass has `_part(scores, mass)` and both masses."""

    def upper_and_subgradient(self, scores):
        """The normalised phi of the upper end and a subgradient of it."""
        return self._part(checked_scores(scores, self.n_samples), self.high)

    def lower_and_subgradient(self, scores):
        """The normalised phi of the lower end and a subgradient of it; zeros where the range begins at 0."""
        scores = checked_scores(scores, self.n_samples)
        if self.low == 0:
            return 0.0, np.zeros(self.n_samples)
        return self._part(scores, self.low)

    def value_and_subgradient(self, scores):
        """upper - lower, and the difference of their subgradients."""
        upper, g = self.upper_and_subgradient(scores)
        lower, h = self.lower_and_subgradient(scores)
        return upper - lower, g - h

    def hessian_product(self, scores, v):
        """Zeros: the upper part is piecewise linear, where a subclass does not say otherwise."""
        return np.zeros(self.n_samples)


class WindowPairs(RankedLoss):
    """Pairs of a positive and a negative in a window of ranks (twin of :class:`kernbench.pairs.WindowPairs`)."""

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, loss="hinge", sample_weight=None):
        self.loss = margin_loss(loss).name
        self.low, self.high = window_of(y, fpr_range, ranks, sample_weight)
        self.positive, _ = binary_problem(y, sample_weight)
        self.n_samples = len(self.positive)
        self.weights = np.ones(self.n_samples) if sample_weight is None else np.asarray(sample_weight, np.float64)

    def _pairs(self, scores, mass):
        """The pairs of the positives and the top `mass` of the negatives, and the factor of their mean."""
        weights, negatives = self.weights.copy(), np.flatnonzero(~self.positive)
        weights[negatives] = top_shares(scores[negatives], weights[negatives], mass)
        return AllPairs(self.positive, weights), weights[negatives].sum() / (self.high - self.low)

    def _part(self, scores, mass):
        pairs, factor = self._pairs(scores, mass)
        value, gradient = pairs.value_and_subgradient(scores, self.loss)
        return factor * value, factor * gradient

    def hessian_product(self, scores, v):
        """The generalised Hessian of the upper part at `scores`, times v; smooth losses only."""
        pairs, factor = self._pairs(checked_scores(scores, self.n_samples), self.high)
        return factor * pairs.hessian_product(scores, v, self.loss)
