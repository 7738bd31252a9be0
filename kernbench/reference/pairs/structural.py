"""The structural bound of the partial AUC (SVMpAUC-tight), in plain NumPy."""

import numpy as np

from kernbench.pairs.checks import binary_problem
from kernbench.pairs.window import structural_window
from kernbench.reference.pairs.window import RankedLoss

BLOCK = 256  # positives processed together


class StructuralBound(RankedLoss):
    """A convex bound of 1 - pAUC (twin of :class:`kernbench.pairs.StructuralBound`).

    With b(q) the score of the negative at mass q from the top, and a window from m to n,

        Q = mean over the positives i of  max over 0 <= r <= n of  (r - m)_+ + integral from 0 to r of b(q) - a_i dq,

    divided by n - m. The bracket is concave from 0 to m and from m to n: its maximum over the first part is where
    b = a_i, over the second where b = a_i - 1.
    """

    def __init__(self, y, fpr_range=(0.0, 1.0), *, ranks=None, sample_weight=None, rounding="mass"):
        self.low, self.high = structural_window(y, fpr_range, ranks, sample_weight, rounding)
        self.positive, _ = binary_problem(y, sample_weight)
        self.n_samples = len(self.positive)
        self.weights = np.ones(self.n_samples) if sample_weight is None else np.asarray(sample_weight, np.float64)

    def lower_and_subgradient(self, scores):
        """Zeros: the bound is convex."""
        return 0.0, np.zeros(self.n_samples)

    def _part(self, scores, mass):
        positives, negatives = np.flatnonzero(self.positive), np.flatnonzero(~self.positive)
        negatives = negatives[np.argsort(-scores[negatives], kind="stable")]
        a, b, w = scores[positives], scores[negatives], self.weights[positives]
        ends = np.cumsum(self.weights[negatives])
        # The mass of each negative that lies above m, and between m and n.
        top = np.clip(self.low - (ends - self.weights[negatives]), 0, self.weights[negatives])
        both = np.clip(mass - (ends - self.weights[negatives]), 0, self.weights[negatives])
        value, gradient = 0.0, np.zeros(self.n_samples)
        for k in range(0, len(a), BLOCK):
            here = slice(k, k + BLOCK)
            gain = b - a[here, None]
            early = top * (gain > 0)
            late = np.where(b > a[here, None] - 1, both, top)
            values = [np.sum(early * gain, axis=1), np.sum(late * gain + (late - top), axis=1)]
            taken = np.where((values[1] > values[0])[:, None], late, early)
            share = w[here] / (w.sum() * (mass - self.low))
            value += share @ np.maximum(*values)
            gradient[positives[here]] = -share * taken.sum(axis=1)
            gradient[negatives] += share @ taken
        return float(value), gradient
