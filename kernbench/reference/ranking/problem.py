"""The problem of the ROC-SVM: alpha/2 ||f||^2 + the mean over pairs of loss(f(x_i) - f(x_j))."""

import numpy as np

from kernbench.losses.pairwise import HINGE, LOG_LOSS, PAIRWISE_LOSSES, SQUARED_HINGE, require_loss
from kernbench.pairs.checks import binary_problem
from kernbench.pairs.drawing import draw_pairs
from kernbench.problems.draws import stratified_sample
from kernbench.problems.margin_problem import require_number
from kernbench.reference.bundle.risk import Risk
from kernbench.reference.pairs.pairs import AllPairs, DrawnPairs


class PairwiseProblem(Risk):
    """A checked problem over the pairs of a positive sample i and a negative one j.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n_samples,), optional
        The pair (i, j) weighs w_i w_j.
    loss : {"hinge", "squared_hinge", "log_loss"}
    n_pairs : int, optional
        Draw so many pairs and look at these only; all pairs by default.
    balanced : bool
        See `kernbench.pairs.draw_pairs`.
    rng : Generator, optional
        For the pairs.
    offered : tuple of str, optional
        The losses that the solver knows.
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False, rng=None,
                 offered=PAIRWISE_LOSSES):  # fmt: skip
        self.design, self.n = design, design.n_samples
        self.alpha = require_number("alpha", alpha, positive=True)
        self.loss = require_loss(loss, offered)
        if np.shape(y) != (self.n,):
            raise ValueError(f"y must hold one label per sample, shape ({self.n},), got {np.shape(y)}")
        self.positive, self.weights = binary_problem(y, weights)
        self.drawn, self.balanced = None, balanced
        if n_pairs is not None:
            self.drawn = draw_pairs(rng, self.positive, n_pairs, sample_weight=self.weights, balanced=balanced)
        if self.drawn is None:
            self.pairs = AllPairs(self.positive, self.weights)
        else:
            self.pairs = DrawnPairs(*self.drawn, self.n)

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
        width = 0.2 * np.sqrt(sum(np.var(scores[m]) for m in members))
        if width > 0:
            move = width * self.positive
            return np.abs(self.risk(scores - move)[1] - self.risk(scores + move)[1]) / (2 * width)
        slope_to_curvature = {HINGE: 2.0, SQUARED_HINGE: 1.0, LOG_LOSS: 0.5}
        return slope_to_curvature[self.loss] * np.abs(self.risk(np.zeros(self.n))[1])

    def settings(self):
        """Return alpha, and what the risk depends on besides the data: loss and pairs."""
        n_pairs = 0 if self.drawn is None else len(self.drawn[0])
        return np.array([self.alpha, PAIRWISE_LOSSES.index(self.loss), n_pairs, self.balanced])

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        if size >= self.n:
            return np.arange(self.n)
        if self.drawn is not None:
            return np.unique(np.concatenate([members[: size // 2] for members in self.drawn]))
        return stratified_sample(rng, self.positive, self.weights, size)

    def take(self, indices, design=None):
        """Return the problem of a subset of the samples; of drawn pairs, those that lie in it."""
        part = object.__new__(PairwiseProblem)
        part.design, part.n, part.alpha = design, len(indices), self.alpha
        part.loss, part.balanced = self.loss, self.balanced
        part.positive = self.positive[indices]
        part.weights = None if self.weights is None else self.weights[indices]
        part.drawn = None
        if self.drawn is None:
            part.pairs = AllPairs(part.positive, part.weights)
        else:
            place = np.full(self.n, -1)
            place[indices] = np.arange(len(indices))
            first, second = place[self.drawn[0]], place[self.drawn[1]]
            inside = (first >= 0) & (second >= 0)
            part.drawn = first[inside].astype(np.int32), second[inside].astype(np.int32)
            part.pairs = DrawnPairs(*part.drawn, part.n)
        return part


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
