"""Losses over pairs in plain NumPy: one sort and cumulative sums for all pairs, indexing for drawn ones.

Notation: a_i scores of the positives, b_j of the negatives, t_i = a_i - 1. A pair counts where b_j > t_i.
With the b ascending and k_i = #{b_j <= t_i}, the sums over the active b of one positive are suffix sums from
k_i; with the t ascending and m_j = #{t_i < b_j}, the sums over the active t of one negative are prefix sums
up to m_j.
"""

import numpy as np

from kernbench.losses.margin import LogLoss
from kernbench.losses.pairwise import PAIRWISE_LOSSES, require_loss
from kernbench.pairs.checks import binary_problem, checked_pairs, checked_scores

BLOCK = 256  # positives whose pairs are processed together


class Pairs:
    """Base class of both sets of pairs: their losses by name."""

    def mean_loss(self, scores, loss):
        """Mean over the pairs of a loss of a_i - b_j."""
        return self.value_and_subgradient(scores, loss)[0]

    def value_and_subgradient(self, scores, loss):
        """The mean loss and its (sub)gradient with respect to the scores."""
        return getattr(self, f"_{require_loss(loss)}")(scores)

    def hessian_product(self, scores, v, loss):
        """The (generalised) Hessian of the mean loss at `scores`, times v."""
        v = checked_scores(v, self.n_samples, name="v")
        return getattr(self, f"_{require_loss(loss, PAIRWISE_LOSSES[1:])}_product")(scores, v)


class AllPairs(Pairs):
    """Every pair of a positive and a negative sample (twin of :class:`kernbench.pairs.AllPairs`)."""

    def __init__(self, y, sample_weight=None):
        positive, weights = binary_problem(y, sample_weight)
        weights = np.ones(len(positive)) if weights is None else weights
        self.n_samples = len(positive)
        self.positives, self.negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        self.n_positive, self.n_negative = len(self.positives), len(self.negatives)
        self.w, self.v = weights[self.positives], weights[self.negatives]
        self.total = self.w.sum() * self.v.sum()

    def _rank(self, scores):
        """Return t, b, and for each positive its active b, for each negative its active t."""
        s = checked_scores(scores, self.n_samples)
        t, b = s[self.positives] - 1, s[self.negatives]
        return t, b, _Tail(b, t), _Head(t, b)

    def _in_order_of_samples(self, of_positives, of_negatives):
        whole = np.empty(self.n_samples)
        whole[self.positives], whole[self.negatives] = of_positives, of_negatives
        return whole / self.total

    def _hinge(self, scores):
        t, b, tail, head = self._rank(scores)
        count, total = tail.sums(self.v), tail.sums(self.v * b)
        loss = self.w @ (total - count * t) / self.total
        return loss, self._in_order_of_samples(-self.w * count, self.v * head.sums(self.w))

    def _squared_hinge(self, scores):
        t, b, tail, head = self._rank(scores)
        count, total, squares = tail.sums(self.v), tail.sums(self.v * b), tail.sums(self.v * b**2)
        loss = self.w @ (squares - 2 * t * total + count * t**2) / self.total
        of_positives = -2 * self.w * (total - count * t)
        of_negatives = 2 * self.v * (b * head.sums(self.w) - head.sums(self.w * t))
        return loss, self._in_order_of_samples(of_positives, of_negatives)

    def _squared_hinge_product(self, scores, v):
        _, _, tail, head = self._rank(scores)
        x, z = v[self.positives], v[self.negatives]
        of_positives = 2 * self.w * (tail.sums(self.v) * x - tail.sums(self.v * z))
        of_negatives = 2 * self.v * (head.sums(self.w) * z - head.sums(self.w * x))
        return self._in_order_of_samples(of_positives, of_negatives)

    def _log_loss(self, scores):
        """Pair by pair."""
        loss, gradient = 0.0, np.zeros(self.n_samples)
        for members, w, margins in self._margins(scores):
            loss += w @ LogLoss.value(margins) @ self.v
            slopes = LogLoss.slope(margins)
            gradient[members] = w * (slopes @ self.v)
            gradient[self.negatives] -= self.v * (w @ slopes)
        return loss / self.total, gradient / self.total

    def _log_loss_product(self, scores, v):
        product = np.zeros(self.n_samples)
        for members, w, margins in self._margins(scores):
            curved = LogLoss.curvature(margins) * (v[members][:, None] - v[self.negatives])
            product[members] = w * (curved @ self.v)
            product[self.negatives] -= self.v * (w @ curved)
        return product / self.total

    def _margins(self, scores):
        """Yield some positives after the other: their indices, weights and margins a_i - b_j, a row for each."""
        s = checked_scores(scores, self.n_samples)
        for k in range(0, self.n_positive, BLOCK):
            members = self.positives[k : k + BLOCK]
            yield members, self.w[k : k + BLOCK], s[members][:, None] - s[self.negatives]


class _Tail:
    """Return for each threshold the sum over the values beyond it."""

    def __init__(self, values, thresholds):
        self.order = np.argsort(values)
        self.first = np.searchsorted(values[self.order], thresholds, side="right")

    def sums(self, x):
        return np.append(np.cumsum(x[self.order][::-1])[::-1], 0)[self.first]


class _Head:
    """Return for each value the sum over the thresholds below it."""

    def __init__(self, thresholds, values):
        self.order = np.argsort(thresholds)
        self.count = np.searchsorted(thresholds[self.order], values, side="left")

    def sums(self, x):
        return np.append(0, np.cumsum(x[self.order]))[self.count]


class DrawnPairs(Pairs):
    """A list of pairs, repeats counted (twin of :class:`kernbench.pairs.DrawnPairs`)."""

    def __init__(self, first, second, n_samples):
        self.first, self.second = checked_pairs(first, second, n_samples)
        self.n_samples, self.n_pairs = n_samples, len(self.first)

    def _excess(self, scores):
        s = checked_scores(scores, self.n_samples)
        return np.maximum(0, s[self.second] - (s[self.first] - 1))

    def _sum_up(self, of_pairs):
        """The mean over the pairs of of_pairs_k (e_second - e_first), e the unit vectors."""
        up = np.bincount(self.second, weights=of_pairs, minlength=self.n_samples)
        down = np.bincount(self.first, weights=of_pairs, minlength=self.n_samples)
        return (up - down) / self.n_pairs

    def _hinge(self, scores):
        excess = self._excess(scores)
        return excess.mean(), self._sum_up(excess > 0)

    def _squared_hinge(self, scores):
        excess = self._excess(scores)
        return np.mean(excess**2), self._sum_up(2 * excess)

    def _squared_hinge_product(self, scores, v):
        return self._sum_up(2 * (self._excess(scores) > 0) * (v[self.second] - v[self.first]))

    def _log_loss(self, scores):
        margins = self._margins(scores)
        return LogLoss.value(margins).mean(), self._sum_up(-LogLoss.slope(margins))

    def _log_loss_product(self, scores, v):
        margins = self._margins(scores)
        return self._sum_up(LogLoss.curvature(margins) * (v[self.second] - v[self.first]))

    def _margins(self, scores):
        s = checked_scores(scores, self.n_samples)
        return s[self.first] - s[self.second]
