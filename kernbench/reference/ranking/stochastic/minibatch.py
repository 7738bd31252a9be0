"""Naive mini-batches for the partial AUC: the window of each batch instead of that of all negatives.

Kar, Narasimhan, Jain, "Online and Stochastic Gradient Methods for Non-decomposable Loss Functions", NeurIPS 2014. The
expected loss of a batch's window is not that of the window of all negatives, so the method is biased, the less the
larger the batch.
"""

import numpy as np

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.pools import OF_LAST, OF_MEANS, PAIR_LOSSES, step_of
from kernbench.problems.ranking.ranked_problem import WindowProblem, check_loss
from kernbench.reference.ranking.ranked_risk import Losses
from kernbench.reference.ranking.stochastic.base import _Stochastic
from kernbench.reference.ranking.stochastic.batches import PairBatches
from kernbench.validation.numbers import check_flag


class MiniBatch(_Stochastic):
    """Mini-batch descent for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Step t = 1, 2, ... draws positives and negatives without replacement and descends by step / sqrt(t) on the mean
    loss over the window of the batch. A window covers mass, so that its ends may cut a negative in two; the published
    method rounds them to ranks. The regulariser is handled in closed form. Weights multiply the terms of the sums.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
    fpr_range : (float, float), default=(0.0, 1.0)
        The window; it covers the negatives from the mass of the first to that of the second, in shares of theirs.
    ranks : (int, int), optional
        The window in ranks of negatives, the paper's (m, n), instead of `fpr_range`.
    tol : float, default=1e-3
        Not used by the solver itself: `check` is given its tolerance. The stages that the rule compares end after
        100, 200, 400, ... steps.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters goes on exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01: zero would be a critical point.
    step : float, optional
        The paper's c; by default 50 over the mean |x|^2, or 5 without `average`, or 1 for the squared hinge.
    n_positive, n_negative : int, default=100
        Samples in a batch.
    radius : float, optional
        Project on the ball of this radius after each step. By default there is no projection.
    average : bool, default=True
        `solution` is the mean of the iterates; False gives the last one.
    """

    losses = PAIR_LOSSES
    step_name = "step"

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, step=None, n_positive=100, n_negative=100, radius=None,
                 average=True):  # fmt: skip
        self._radius = np.inf if radius is None else require_number("radius", radius, positive=True)
        check_flag("average", average)
        self._average = average
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        self.batches = PairBatches(design, ranked, n_positive, n_negative)
        self._step_size = step_of(step, design, OF_MEANS if average else OF_LAST, self.batches.pools.steep)
        self.window = ranked.make(Losses)
        pools = self.batches.pools
        settings = (self._step_size, self._radius, average, self.batches.loss.code, pools.batch, pools.low, pools.high)
        self._steps, self._sum = np.zeros(1), np.zeros(design.n_coef)  # of the iterates after each step
        self._set_up(design, alpha, pools.batch, settings, 100, random_state, initial)

    def _step(self, u):
        pools, loss = self.batches.pools, self.batches.loss
        (Xi, a, ui), (Xj, b, uj) = self.batches.scores(self.batches.draw(u), self.w)
        self._refuse_overflow(self.w)
        order = np.argsort(-b, kind="stable")
        after = np.cumsum(uj[order])
        low, high = pools.low * after[-1], pools.high * after[-1]
        share = np.zeros(len(b))  # of each negative's weight, what lies in the window
        share[order] = np.clip(np.minimum(after, high) - np.maximum(after - uj[order], low), 0.0, None)
        S = loss.slope(a[:, None] - b) * ui[:, None] * share / (ui.sum() * (high - low))
        G = Xi.T @ S.sum(axis=1) - Xj.T @ S.sum(axis=0)
        self._steps[0] += 1
        eta = self._step_size / np.sqrt(self._steps[0])
        self.w = (self.w - eta * G) / (1.0 + eta * self.alpha)
        self.w = self.w * min(1.0, self._radius / max(np.sqrt(self.w @ self.w), 1e-300))
        self._sum += self.w
        self.n_inner_products += 2 * pools.batch
        if self._steps[0] == 100 * 2**self._stage:
            self._end_stage(self._current())

    def _current(self):
        return self._sum / self._steps[0] if self._average and self._steps[0] else self.w

    def _own_arrays(self):
        return {"w": self.w, "sum": self._sum, "steps": self._steps}

    def _risk(self, scores):
        return self.window.value_and_subgradient(scores)[0]
