"""The mean over pairs of loss(f(x_i) - f(x_j)), the risk of the ROC-SVM, and its derivatives."""

import numpy as np

from kernbench.losses.pairwise import HINGE, LOG_LOSS, SQUARED_HINGE
from kernbench.reference.bundle.risk import Risk
from kernbench.reference.pairs.pairs import AllPairs, DrawnPairs


class PairwiseRisk(Risk):
    """The risk of a `PairwiseProblem`.

    Parameters
    ----------
    pairwise : PairwiseProblem
    design : FeatureDesign or KernelDesign, or None
    """

    def __init__(self, pairwise, design):
        self.pairwise, self.design, self.n, self.alpha = pairwise, design, pairwise.n, pairwise.alpha
        self.loss, self.positive, self.weights = pairwise.loss, pairwise.positive, pairwise.weights
        if pairwise.drawn is None:
            self.pairs = AllPairs(self.positive, self.weights)
        else:
            self.pairs = DrawnPairs(*pairwise.drawn, self.n)

    @property
    def at_zero(self):
        """The risk where all scores are 0: every pair is one margin short."""
        return np.log(2) if self.loss == LOG_LOSS else 1.0

    def smoothed(self):
        """Return the risk with the hinge's kink rounded; the other losses have none."""
        return SmoothedPairs(self.pairs, self.positive, self.loss)

    @property
    def centred_by(self):
        """The classes whose means the Hessian leaves out."""
        return self.positive

    def risk(self, scores):
        """Return the mean loss at these scores and its (sub)gradient with respect to them."""
        return self.pairs.value_and_subgradient(scores, self.loss)

    def density(self, scores):
        """Return how many pairs each sample has at the margin: the weights h of the Hessian, at least 0, shape (n,).

        The change of the gradient when all positive scores move, by a fifth of the spread of the scores; this finite
        difference approximates the Hessian of a smoothed loss. Where scores have no spread, at f = 0, that of a loss
        with a second derivative there is taken (of the squared loss for hinges), which weights all samples of a class
        equally.
        """
        members = self.positive, ~self.positive
        width = 0.2 * np.sqrt(sum(weighted_variance(scores, self.weights, m) for m in members))
        if width > 0:
            move = width * self.positive
            return np.abs(self.risk(scores - move)[1] - self.risk(scores + move)[1]) / (2 * width)
        slope_to_curvature = {HINGE: 2.0, SQUARED_HINGE: 1.0, LOG_LOSS: 0.5}
        return slope_to_curvature[self.loss] * np.abs(self.risk(np.zeros(self.n))[1])

    def settings(self):
        """Return alpha, and what the risk depends on besides the data: loss and pairs."""
        return np.array([self.alpha, *self.pairwise.settings()])

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        return self.pairwise.sample(rng, size)

    def take(self, indices, design=None):
        """Return the risk on a subset of the samples."""
        return PairwiseRisk(self.pairwise.take(indices), design)


def weighted_variance(scores, weights, members):
    """Return the variance of the scores of some samples."""
    if weights is None:
        return np.var(scores[members])
    scores, weights = scores[members], weights[members]
    return np.average((scores - np.average(scores, weights=weights)) ** 2, weights=weights)


class SmoothedPairs:
    """The mean over pairs of the hinge with its kink rounded over a width `mu`, or of a smooth loss.

    With the margin m = s_i - s_j,

        max over 0 <= p <= 1 of  p (1 - m) - mu p^2 / 2  =  ((1 - m)_+^2 - (1 - mu - m)_+^2) / (2 mu),

    and a margin of 1 - mu is one of 1 where mu is added to the positive scores.
    """

    mu = None

    def __init__(self, pairs, positive, loss):
        self.pairs, self.positive, self.loss = pairs, positive, loss

    def risk(self, scores):
        """Return value and gradient, as for the risk that is smoothed."""
        return self.evaluate(scores)[:2]

    def evaluate(self, scores):
        """Return value and gradient, and the offset of the cut of the risk with these slopes."""
        self.scores = scores
        if self.loss != HINGE:
            value, g = self.pairs.value_and_subgradient(scores, self.loss)
            return value, g, value - g @ scores
        value, g = self.pairs.value_and_subgradient(scores, "squared_hinge")
        beyond, h = self.pairs.value_and_subgradient(scores + self.mu * self.positive, "squared_hinge")
        g = (g - h) / (2 * self.mu)
        return (value - beyond) / (2 * self.mu), g, -g[self.positive].sum()

    def hessian_product(self, v):
        """The second derivative at the last scores, times v."""
        if self.loss != HINGE:
            return self.pairs.hessian_product(self.scores, v, self.loss)
        product = self.pairs.hessian_product(self.scores, v, "squared_hinge")
        beyond = self.scores + self.mu * self.positive
        return (product - self.pairs.hessian_product(beyond, v, "squared_hinge")) / (2 * self.mu)
