"""PESG for the min-max margin loss of the AUC (Yuan, Yan, Sonka, Yang, ICCV 2021).

    min over w, a, b, max over theta >= 0 of  E+[(h - a)^2] + E-[(h - b)^2] + 2 theta (M + E-[h] - E+[h]) - theta^2,

whose inner optimum is a, b = the means of the scores of the classes, theta = (M + b - a)_+, and
var+ + var- + (M + mean- - mean+)_+^2.
"""

import numpy as np

from kernbench.losses.pairwise import HINGE
from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.problems.ranking.sampling import PairSampling, check_auc_margin
from kernbench.solvers.ranking.stochastic.base import Stochastic
from kernbench.validation.numbers import check_number


class PESG(Stochastic):
    """Proximal epoch stochastic gradient for alpha/2 |w|^2 + the min-max margin loss of the AUC.

    With v = (w, a, b) a step does v <- v - eta (clip(gradient) + decay (v - v_ref)), the regulariser and the pull to
    v_ref in closed form, then theta <- (theta + eta (2 (M + b - a) - 2 theta))_+ . After each stage eta is divided by
    10 and v_ref becomes the mean of the stage's iterates. `solution` is the last iterate.

    Parameters
    ----------
    loss : {"auc_margin"}, default="auc_margin"
    margin : float, default=1.0
        M.
    step_size : float, default=0.1
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

    def __init__(self, design, y, *, alpha, weights=None, loss="auc_margin", margin=1.0, tol=1e-3, random_state=None,
                 initial=None, step_size=0.1, stage_steps=2000, decay=2e-3, clip=1.0, n_positive=100,
                 n_negative=100, core="compiled"):  # fmt: skip
        super().__init__(core)
        check_auc_margin(loss)
        check_number("stage_steps", stage_steps, at_least=1, whole=True)
        self.margin = require_number("margin", margin, positive=True)
        self.eta, self.stage_steps = require_number("step_size", step_size, positive=True), stage_steps
        self.decay, self.clip = require_number("decay", decay), require_number("clip", clip, positive=True)
        sampling = PairSampling(design, WindowProblem(y, weights, HINGE), n_positive, n_negative)
        self.theta = np.zeros(1)
        settings = margin, step_size, stage_steps, decay, clip, sampling.batch
        self._set_up(
            self.core.PairBatches(sampling), alpha, sampling.batch, settings, stage_steps, random_state, initial
        )

    def _begin_at(self, coef):
        super()._begin_at(coef)
        self.w = np.append(coef, [0.0, 0.0])  # v = (w, a, b)
        self.reference, self.sum = self.w.copy(), np.zeros(len(self.w))

    def _left(self):
        return self.stage_steps - self.t

    def _steps(self, u):
        eta = self.eta / 10.0**self.stage
        return self.core.steps(
            self.batches, u, eta, self.alpha, self.margin, self.decay, self.clip, self.w, self.reference, self.sum,
            self.theta,
        )  # fmt: skip

    def _end_stage(self):
        self.reference[:], self.sum[:] = self.sum / self.t, 0.0
        return self._current()

    def _current(self):
        return self.w[: self.design.n_coef]

    def _own_arrays(self):
        return {"w": self.w, "reference": self.reference, "sum": self.sum, "theta": self.theta}

    def _risk(self, scores):
        """var+ + var- + (M + mean- - mean+)_+^2."""
        risk, means = 0.0, []
        for population in (self.batches.sampling.positives, self.batches.sampling.negatives):
            s = scores[population.rows]
            means.append(np.mean(population.weights * s))
            risk += np.mean(population.weights * (s - means[-1]) ** 2)
        return risk + max(0.0, self.margin + means[1] - means[0]) ** 2
