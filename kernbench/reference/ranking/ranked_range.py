"""The mean of the losses in a range of ranks, in plain NumPy."""

import numpy as np

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import regression_loss
from kernbench.ranking.checks import checked_scores, ranked_targets
from kernbench.ranking.window import range_of
from kernbench.reference.ranking.window import RankedLoss, top_shares


class RankedRange(RankedLoss):
    """The losses of ranks m to n of one list (twin of :class:`kernbench.ranking.RankedRange`)."""

    def __init__(self, y, ranked_range, *, loss="log_loss", sample_weight=None):
        self.of_margin = loss in MARGIN_LOSSES
        self.loss = MARGIN_LOSSES[loss] if self.of_margin else regression_loss(loss)
        self.y, weights = ranked_targets(y, self.of_margin, sample_weight)
        self.n_samples = len(self.y)
        self.weights = np.ones(self.n_samples) if weights is None else weights
        self.low, self.high = range_of(ranked_range, self.weights.sum())

    def _part(self, scores, mass):
        argument = self.y * scores if self.of_margin else scores - self.y
        losses = self.loss.value(argument)
        slopes = self.loss.slope(argument) * (self.y if self.of_margin else 1.0)
        shares = top_shares(losses, self.weights, mass) / (self.high - self.low)
        return float(shares @ losses), shares * slopes

    def hessian_product(self, scores, v):
        """The generalised Hessian of the upper part at `scores`, times v; smooth losses only."""
        scores = checked_scores(scores, self.n_samples)
        argument = self.y * scores if self.of_margin else scores - self.y
        shares = top_shares(self.loss.value(argument), self.weights, self.high) / (self.high - self.low)
        return shares * curvature(self.loss.name, argument) * checked_scores(v, self.n_samples, name="v")


def curvature(loss, argument):
    """The second derivative of a loss; 0 at the kinks of the first."""
    if loss == "squared_hinge":
        return 2.0 * (argument < 1.0)
    if loss == "log_loss":
        e = np.exp(-np.abs(argument))
        return e / (1.0 + e) ** 2
    if loss == "huber":
        return 1.0 * (np.abs(argument) <= 1.0)
    return np.full(len(argument), 1.0 if loss == "squared_error" else 0.0)
