"""Problems of a range of ranks: targets, weights, loss and range, of all samples or of a subset."""

from copy import copy
from zlib import crc32

import numpy as np

from kernbench.losses.base import check_offered
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.pairwise import HINGE
from kernbench.losses.table import losses_of
from kernbench.pairs.checks import binary_problem, ranked_targets
from kernbench.pairs.window import range_of, structural_window, window_of
from kernbench.problems.draws import stratified_sample


def check_loss(loss, offered):
    """Raise ValueError unless `loss` is one of those that the solver minimises, `offered`."""
    check_offered(loss, offered, losses_of("rank"))


class RankedProblem:
    """Base class of the problems of a range of ranks.

    Attributes
    ----------
    name : str
        Name of the `RankedLoss` class that computes the risk.
    y : ndarray of shape (n,)
    n : int
    weights : ndarray of shape (n,), or None
    loss : str
    positive : ndarray of shape (n,), bool
    centred_by : ndarray of shape (n,), uint8, or None
        1 for positives and 0 for negatives if the loss is one of pairs; else None.
    sides : ndarray of shape (n,)
        Derivative of each score with respect to a shift of the argument of the losses.
    low, high : float
        Ends of the range, in cumulative weight.
    """

    def _hold(self, y, weights, loss, low, high):
        self.y, self.weights, self.loss, self.low, self.high = y, weights, loss, float(low), float(high)
        self.n, self.positive = len(y), y > 0

    def check_samples(self, design):
        """Raise ValueError unless there is one target for each sample of a design."""
        if self.n != design.n_samples:
            raise ValueError(f"y must hold one label per sample, {design.n_samples}, got {self.n}")

    def take(self, indices):
        """Return the problem of a sample of the rows; the range keeps its share of the weight."""
        part = copy(self)
        whole, weights = self.mass(), None if self.weights is None else self.weights[indices]
        part._hold(self.y[indices], weights, self.loss, 0.0, 0.0)
        share = part.mass() / whole
        part.low, part.high = self.low * share, self.high * share
        return part

    def whole(self):
        """Return the convex problem of all ranks."""
        return self._first(self.mass())

    def below(self):
        """Return the problem of the ranks before the range: the convex function that this one subtracts, rescaled."""
        return self._first(self.low)

    def _first(self, mass):
        other = copy(self)
        other._hold(self.y, self.weights, self.loss, 0.0, mass)
        return other

    def _mass_of(self, members):
        return float(np.count_nonzero(members) if self.weights is None else self.weights[members].sum())

    def settings(self):
        """Return as numbers all settings, other than data and weights, that the risk of given scores depends on."""
        return np.array([self.low, self.high, sum(self.loss.encode())], dtype=np.float64)


class WindowProblem(RankedProblem):
    """Mean loss of the pairs of a positive and a negative within a range of false positive rates.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 or +1.
    weights : array-like of shape (n,), optional
    loss : str
    fpr_range : (float, float)
    ranks : (int, int), optional
    """

    name = "WindowPairs"

    def __init__(self, y, weights, loss, fpr_range=(0.0, 1.0), ranks=None):
        low, high = window_of(y, fpr_range, ranks, weights)
        self._take_over(y, weights, loss, low, high)

    def _take_over(self, y, weights, loss, low, high):
        positive, _ = binary_problem(y, weights)
        weights = None if weights is None else np.array(weights, dtype=np.float64)
        self._hold(np.where(positive, 1.0, -1.0), weights, loss, low, high)

    @property
    def centred_by(self):
        return self.positive.view(np.uint8)

    @property
    def sides(self):
        return self.positive.astype(np.float64)

    def mass(self):
        """The weight of all negatives."""
        return self._mass_of(~self.positive)

    def make(self, losses):
        """Return the `RankedLoss` of this problem; `losses` is the module of one twin."""
        return losses.WindowPairs(self.y, self._rates(), loss=self.loss, sample_weight=self.weights)

    def _rates(self):
        mass = self.mass()
        return self.low / mass, min(self.high / mass, 1.0)

    def sample(self, rng, size):
        """Return the indices of about `size` samples, half of them positive if there are enough."""
        if size >= self.n:
            return np.arange(self.n)
        return stratified_sample(rng, self.positive, self.weights, size)


class StructuralProblem(WindowProblem):
    """The structural bound of 1 - the partial AUC.

    Parameters
    ----------
    y, weights, fpr_range, ranks
        As in `WindowProblem`.
    rounding : {"mass", "integer"}
    """

    name = "StructuralBound"

    def __init__(self, y, weights, fpr_range=(0.0, 1.0), ranks=None, rounding="mass"):
        low, high = structural_window(y, fpr_range, ranks, weights, rounding)
        self._take_over(y, weights, HINGE, low, high)

    def make(self, losses):
        """Return the `RankedLoss` of this problem; `losses` is the module of one twin."""
        return losses.StructuralBound(self.y, self._rates(), sample_weight=self.weights)


class RangeProblem(RankedProblem):
    """Mean of the losses within a range of ranks of one list.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels, -1 or +1, for a loss of a margin; real numbers otherwise.
    weights : array-like of shape (n,), optional
    loss : str
    ranked_range : (float, float), optional
        Ends of the range in cumulative weight; the whole list by default.
    """

    name, centred_by = "RankedRange", None

    def __init__(self, y, weights, loss, ranked_range=None):
        y, weights = ranked_targets(y, loss in MARGIN_LOSSES, weights)
        total = float(len(y) if weights is None else weights.sum())
        low, high = (0.0, total) if ranked_range is None else range_of(ranked_range, total)
        self._hold(y, weights, loss, low, high)

    @property
    def sides(self):
        return self.y if self.loss in MARGIN_LOSSES else np.ones(self.n)

    def mass(self):
        """The weight of all losses."""
        return self._mass_of(np.ones(self.n, dtype=bool))

    def make(self, losses):
        """Return the `RankedLoss` of this problem; `losses` is the module of one twin."""
        return losses.RankedRange(self.y, (self.low, self.high), loss=self.loss, sample_weight=self.weights)

    def settings(self):
        """Return the settings and, for a loss of residuals, a checksum of the targets: `problems.risk.signature` sees
        their signs only."""
        known = super().settings()
        return known if self.loss in MARGIN_LOSSES else np.append(known, crc32(np.ascontiguousarray(self.y)))

    def sample(self, rng, size):
        """Return the indices of about `size` samples."""
        if size >= self.n:
            return np.arange(self.n)
        known = np.arange(self.n) if self.weights is None else np.flatnonzero(self.weights > 0)
        return np.sort(rng.choice(known, min(size, len(known)), replace=False))
