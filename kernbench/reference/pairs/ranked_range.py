"""The mean of the losses in a range of ranks, in plain NumPy."""

import numpy as np

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import regression_loss
from kernbench.pairs.checks import checked_scores, ranked_targets
from kernbench.pairs.window import TINIEST, range_of
from kernbench.reference.pairs.window import RankedLoss, top_shares


class RankedRange(RankedLoss):
    """The losses of ranks m + 1 to n of one list (twin of :class:`kernbench.pairs.RankedRange`)."""

    def __init__(self, y, ranked_range, *, loss="log_loss", sample_weight=None):
        self.of_margin = loss in MARGIN_LOSSES
        self.loss = MARGIN_LOSSES[loss] if self.of_margin else regression_loss(loss)
        self.y, weights = ranked_targets(y, self.of_margin, sample_weight)
        self.n_samples = len(self.y)
        self.weights = np.ones(self.n_samples) if weights is None else weights
        self.low, self.high = range_of(ranked_range, self.weights.sum())

    def _rank(self, scores, mass):
        """The margins or residuals, and the normalised share of each in the highest losses that weigh `mass`.

        Losses rise as the margin falls, or with the size of the residual: these rank them exactly.
        """
        argument = self.y * scores if self.of_margin else scores - self.y
        key = -argument if self.of_margin else np.abs(argument)
        key = np.where(np.abs(key) < TINIEST, 0.0, key)
        return argument, top_shares(key, self.weights, mass) / (self.high - self.low)

    def _part(self, scores, mass):
        argument, shares = self._rank(scores, mass)
        slopes = self.loss.slope(argument) * (self.y if self.of_margin else 1.0)
        return float(shares @ self.loss.value(argument)), shares * slopes

    def hessian_product(self, scores, v):
        """The generalised Hessian of the upper part at `scores`, times v; smooth losses only."""
        argument, shares = self._rank(checked_scores(scores, self.n_samples), self.high)
        return shares * self.loss.curvature(argument) * checked_scores(v, self.n_samples, name="v")
