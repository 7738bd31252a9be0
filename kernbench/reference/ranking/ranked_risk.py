"""Risks of a range of ranks, as the cutting planes see them: the upper part less a linear function of the scores.

The objective of a range is alpha/2 |f|^2 + U(s) - L(s), U and L convex functions of the scores s of f. L lies above its
tangent at any scores r, so that

    F(f) <= alpha/2 |f|^2 + R(s),     R(s) = U(s) - L(r) - <g, s - r>,   g a subgradient of L at r,

with equality at s = r. R is convex, and it is at least U - L, which is not negative.
"""

import numpy as np

from kernbench.problems.ranking.ranked_problem import RankedProblem
from kernbench.reference import pairs
from kernbench.reference.bundle.risk import Risk
from kernbench.reference.ranking.problem import weighted_variance

WIDTH = 0.2  # of the band that counts as the margin, in standard deviations of the scores


class RankedRisk(Risk):
    """R above, where the lower part is linearised; U before that.

    Parameters
    ----------
    design : FeatureDesign or KernelDesign, or None
    ranked : RankedProblem
    alpha : float
    origin : ndarray of shape (n,), optional
        Scores that are added to those of f: the risk of f is that of f_0 + f.
    """

    def __init__(self, design, ranked: RankedProblem, alpha, origin=None):
        if design is not None:
            ranked.check_samples(design)
        self.design, self.ranked, self.alpha, self.n = design, ranked, alpha, ranked.n
        self.positive, self.weights, self.origin = ranked.positive, ranked.weights, origin
        self.centred_by = None if ranked.centred_by is None else ranked.positive
        self.losses = ranked.make(pairs)
        self.slopes, self.constant = np.zeros(self.n), 0.0  # of the linear part
        self.at_zero = float(self.losses.value_and_subgradient(np.zeros(self.n))[0])

    def linearise(self, scores):
        """Linearise the lower part there; return the value and the slopes of U - L."""
        upper, g = self.losses.upper_and_subgradient(scores)
        lower, self.slopes = self.losses.lower_and_subgradient(scores)
        self.constant = self.slopes @ scores - lower
        return upper - lower, g - self.slopes

    def window(self, scores):
        """Return U - L and its slopes."""
        return self.losses.value_and_subgradient(scores)

    def lower_slopes(self, scores):
        """Return a subgradient of L."""
        return self.losses.lower_and_subgradient(scores)[1]

    def risk(self, scores):
        """Return R at these scores and a subgradient of it."""
        scores = self._moved(scores)
        upper, g = self.losses.upper_and_subgradient(scores)
        return upper - self.slopes @ scores + self.constant, g - self.slopes

    def _moved(self, scores):
        return scores if self.origin is None else self.origin + scores

    def density(self, scores):
        """Return about the second derivative of U - L with respect to each score, at least 0, shape (n,).

        The change of the slopes when the arguments of all losses move by a fifth of the spread of the scores.
        """
        sides, scores = self.ranked.sides, self._moved(scores)
        spread = np.sqrt(sum(weighted_variance(scores, self.weights, m) for m in self._groups()))
        width = WIDTH * spread if spread > 0 else 1.0
        return np.abs(self.window(scores - width * sides)[1] - self.window(scores + width * sides)[1]) / (2 * width)

    def _groups(self):
        return [np.ones(self.n, dtype=bool)] if self.centred_by is None else [self.positive, ~self.positive]

    def settings(self):
        """Return alpha, and what the risk depends on besides the data."""
        return np.append(self.alpha, self.ranked.settings())

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        return self.ranked.sample(rng, size)

    def take(self, indices, design=None):
        """Return the problem of a subset of the samples, before the lower part is linearised."""
        origin = None if self.origin is None else self.origin[indices]
        return RankedRisk(design, self.ranked.take(indices), self.alpha, origin)
