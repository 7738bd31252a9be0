"""The problem of the ROC-SVM: alpha/2 ||f||^2 + the mean over pairs of loss(f(x_i) - f(x_j)), checked."""

from copy import copy

import numpy as np

from kernbench.losses.pairwise import PAIRWISE_LOSSES, require_loss
from kernbench.pairs.checks import binary_problem
from kernbench.pairs.drawing import draw_pairs
from kernbench.problems.draws import stratified_sample
from kernbench.problems.margin_problem import require_number
from kernbench.validation.numbers import check_flag


class PairwiseProblem:
    """A checked problem over the pairs of a positive sample i and a negative one j.

    Its value and derivatives are computed by a ``PairwiseRisk``, of which there are two: compiled, and in NumPy.

    Parameters
    ----------
    n : int
        Samples.
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        The pair (i, j) weighs w_i w_j. All equal by default.
    loss : {"hinge", "squared_hinge", "log_loss"}
    n_pairs : int, optional
        Draw this many pairs once and minimise over these; by default over all pairs.
    balanced : bool, default=False
        Draw the pairs so that each sample of a class comes up equally often; needs `n_pairs`.
    rng : Generator, optional
        Draws the pairs.
    offered : tuple of str, optional
        The losses that the solver knows.

    Attributes
    ----------
    positive : ndarray of shape (n,), bool
    drawn : tuple of two ndarrays, or None
        The positive and the negative samples of the pairs drawn.
    """

    def __init__(self, n, y, *, alpha, weights=None, loss="hinge", n_pairs=None, balanced=False, rng=None,
                 offered=PAIRWISE_LOSSES):  # fmt: skip
        self.n, self.alpha = n, require_number("alpha", alpha, positive=True)
        self.loss, self.code = require_loss(loss, offered), PAIRWISE_LOSSES.index(loss)
        if np.shape(y) != (n,):
            raise ValueError(f"y must hold one label per sample, shape ({n},), got {np.shape(y)}")
        self.positive, self.weights = binary_problem(y, weights)
        check_flag("balanced", balanced)
        if balanced and n_pairs is None:
            raise ValueError(
                "balanced=True is for drawn pairs, but all pairs are taken: choose n_pairs= (pairs= of ROCSVC), or "
                "leave it out"
            )
        self.drawn, self.balanced = None, balanced
        if n_pairs is not None:
            self.drawn = draw_pairs(rng, self.positive, n_pairs, sample_weight=self.weights, balanced=balanced)

    def settings(self):
        """Return what the risk depends on besides the data: loss and pairs."""
        return [self.code, 0 if self.drawn is None else len(self.drawn[0]), self.balanced]

    def sample(self, rng, size):
        """Return the indices of a subset of the samples, about `size` of them, that the problem may be tried on."""
        if size >= self.n:
            return np.arange(self.n)
        if self.drawn is not None:
            return np.unique(np.concatenate([members[: size // 2] for members in self.drawn])).astype(np.intp)
        return stratified_sample(rng, self.positive, self.weights, size)

    def take(self, indices):
        """Return the problem of a subset of the samples; of drawn pairs, those that lie in it."""
        part = copy(self)
        part.n, part.positive = len(indices), self.positive[indices]
        part.weights = None if self.weights is None else self.weights[indices]
        if self.drawn is not None:
            place = np.full(self.n, -1, dtype=np.int32)
            place[indices] = np.arange(len(indices))
            first, second = (place[members] for members in self.drawn)
            inside = (first >= 0) & (second >= 0)
            part.drawn = first[inside], second[inside]
        return part
