"""PESG for the min-max margin loss of the AUC (Yuan, Yan, Sonka, Yang, ICCV 2021).

    min over w, a, b, max over theta >= 0 of  E+[(h - a)^2] + E-[(h - b)^2] + 2 theta (M + E-[h] - E+[h]) - theta^2,

whose inner optimum is a, b = the means of the scores of the classes, theta = (M + b - a)_+, and
var+ + var- + (M + mean- - mean+)_+^2.
"""

import numpy as np

from kernbench.losses.pairwise import HINGE
from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.reference.ranking.stochastic.base import _Stochastic
from kernbench.reference.ranking.stochastic.batches import PairBatches
from kernbench.validation.numbers import check_number


class PESG(_Stochastic):
    """Proximal epoch stochastic gradient for alpha/2 |w|^2 + the min-max margin loss of the AUC.

    With v = (w, a, b) a step does v <- v - eta (clip(gradient) + decay (v - v_ref)), the regulariser and the pull to
    v_ref in closed form, then theta <- (theta + eta (2 (M + b - a) - 2 theta))_+ . After each stage eta is divided by
    10 and v_ref becomes the mean of the stage's iterates. `solution` is the last iterate.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
        Multiply the terms of the means of a class, so that weight k is k copies in expectation.
    loss : {"auc_margin"}, default="auc_margin"
    margin : float, default=1.0
        M.
    tol : float, default=1e-3
        Not used by the solver itself: `check` is given its tolerance.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters goes on exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01.
    learning_rate : float, default=0.1
        eta of the first stage.
    stage_steps : int, default=2000
        Steps of a stage.
    decay : float, default=0.002
        1/Gamma, LibAUC's ``epoch_decay``.
    clip : float, default=1.0
        Largest entry of the gradient.
    n_positive, n_negative : int, default=100
        Samples in a batch.
    """

    losses = ("auc_margin",)
    step_name = "learning_rate"

    def __init__(self, design, y, *, alpha, weights=None, loss="auc_margin", margin=1.0, tol=1e-3, random_state=None,
                 initial=None, learning_rate=0.1, stage_steps=2000, decay=2e-3, clip=1.0, n_positive=100,
                 n_negative=100):  # fmt: skip
        if loss not in self.losses:
            raise ValueError(f"this solver minimises loss='auc_margin' only, not {loss!r}")
        check_number("stage_steps", stage_steps, at_least=1, whole=True)
        self._M = require_number("margin", margin, positive=True)
        self._eta = require_number("learning_rate", learning_rate, positive=True)
        self._stage_steps = stage_steps
        self._decay, self._clip = require_number("decay", decay), require_number("clip", clip, positive=True)
        self.batches = PairBatches(design, WindowProblem(y, weights, HINGE), n_positive, n_negative)
        batch = self.batches.pools.batch
        self._theta = np.zeros(1)
        self._set_up(design, alpha, batch, (margin, learning_rate, stage_steps, decay, clip, batch), stage_steps,
                     random_state, initial)  # fmt: skip

    def _begin_at(self, coef):
        super()._begin_at(coef)
        self.w = np.append(coef, [0.0, 0.0])  # v
        self._reference, self._sum = self.w.copy(), np.zeros(len(self.w))

    def _step(self, u):
        v, theta, d = self.w, self._theta[0], self.design.n_coef
        self._refuse_overflow(v)
        eta = self._eta / 10.0**self._stage
        (Xi, s, ui), (Xj, r, uj) = self.batches.scores(self.batches.draw(u), v[:d])
        for_positive = 2.0 * ui / len(s) * (s - v[d])
        for_negative = 2.0 * uj / len(r) * (r - v[d + 1])
        G = np.concatenate([
            Xi.T @ (for_positive - 2.0 * theta * ui / len(s)) + Xj.T @ (for_negative + 2.0 * theta * uj / len(r)),
            [-for_positive.sum(), -for_negative.sum()],
        ])  # fmt: skip
        ridge = np.append(np.full(d, self.alpha), [0.0, 0.0])
        G = np.clip(G, -self._clip, self._clip)
        v = (v - eta * (G - self._decay * self._reference)) / (1.0 + eta * (self._decay + ridge))
        self._theta[0] = max(0.0, theta + eta * (2.0 * (self._M + v[d + 1] - v[d]) - 2.0 * theta))
        self.w = v
        self._sum += v
        self.n_inner_products += 2 * self._numbers
        self._t += 1
        if self._t == self._stage_steps:
            self._reference, self._sum = self._sum / self._t, np.zeros(d + 2)
            self._end_stage(v[:d].copy())

    def _current(self):
        return self.w[: self.design.n_coef]

    def _own_arrays(self):
        return {"w": self.w, "reference": self._reference, "sum": self._sum, "theta": self._theta}

    def _risk(self, scores):
        """var+ + var- + (M + mean- - mean+)_+^2."""
        risk, means = 0.0, []
        for pool in (self.batches.pools.positives, self.batches.pools.negatives):
            s = scores[pool.rows]
            means.append(np.mean(pool.weights * s))
            risk += np.mean(pool.weights * (s - means[-1]) ** 2)
        return risk + max(0.0, self._M + means[1] - means[0]) ** 2
