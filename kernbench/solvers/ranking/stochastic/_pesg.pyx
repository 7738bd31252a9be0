"""PESG for the min-max margin loss of the AUC (Yuan, Yan, Sonka, Yang, ICCV 2021).

    min over w, a, b, max over theta >= 0 of  E+[(h - a)^2] + E-[(h - b)^2] + 2 theta (M + E-[h] - E+[h]) - theta^2,

whose inner optimum is a, b = the means of the scores of the classes, theta = (M + b - a)_+, and
var+ + var- + (M + mean- - mean+)_+^2.
"""

from kernbench.solvers.ranking.stochastic._base cimport Stochastic
from kernbench.solvers.ranking.stochastic._batches cimport PairBatches

import numpy as np

from kernbench.losses.pairwise import HINGE
from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import WindowProblem
from kernbench.validation.numbers import check_number


cdef class PESG(Stochastic):
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

    cdef PairBatches batches
    cdef Py_ssize_t stage_steps
    cdef double M, eta, decay, clip
    cdef double[::1] reference, sum, theta, G

    losses = ("auc_margin",)
    step_name = "learning_rate"

    def __init__(self, design, y, *, alpha, weights=None, loss="auc_margin", margin=1.0, tol=1e-3, random_state=None,
                 initial=None, learning_rate=0.1, stage_steps=2000, decay=2e-3, clip=1.0, n_positive=100,
                 n_negative=100):
        if loss not in self.losses:
            raise ValueError(f"this solver minimises loss='auc_margin' only, not {loss!r}")
        check_number("stage_steps", stage_steps, at_least=1, whole=True)
        self.M = require_number("margin", margin, positive=True)
        self.eta = require_number("learning_rate", learning_rate, positive=True)
        self.stage_steps = stage_steps
        self.decay, self.clip = require_number("decay", decay), require_number("clip", clip, positive=True)
        self.batches = PairBatches(design, WindowProblem(y, weights, HINGE), n_positive, n_negative)
        batch = self.batches.pools.batch
        self.theta, self.G = np.zeros(1), np.empty(design.n_coef + 2)
        self._set_up(design, alpha, batch, (margin, learning_rate, stage_steps, decay, clip, batch), stage_steps,
                     random_state, initial)

    def _begin_at(self, coef):
        super()._begin_at(coef)
        self.w = np.append(coef, [0.0, 0.0])    # v = (w, a, b)
        self.reference, self.sum = np.array(self.w), np.zeros(len(self.w))

    cdef int _step(self, const double *u) except -1 nogil:
        cdef:
            Py_ssize_t k, d = self.design.n_coef, n_i = self.batches.positives.batch, n = self.batches.size
            double *v = &self.w[0]
            double *G = &self.G[0]
            double eta = self.eta / 10.0 ** <double> self.stage, theta = self.theta[0], slope
        self.batches.draw(u)
        if not self.batches.score(v):
            self._refuse_overflow()
        for k in range(d + 2):
            G[k] = 0.0
        for k in range(n_i):
            slope = 2.0 * self.batches.u[k] / n_i
            self.batches.coef[k] = slope * (self.batches.scores[k] - v[d] - theta)
            G[d] -= slope * (self.batches.scores[k] - v[d])
        for k in range(n_i, n):
            slope = 2.0 * self.batches.u[k] / (n - n_i)
            self.batches.coef[k] = slope * (self.batches.scores[k] - v[d + 1] + theta)
            G[d + 1] -= slope * (self.batches.scores[k] - v[d + 1])
        self.batches.add_rows(1.0, G)
        for k in range(d + 2):
            slope = min(max(G[k], -self.clip), self.clip) - self.decay * self.reference[k]
            v[k] = (v[k] - eta * slope) / (1.0 + eta * (self.decay + (self.alpha if k < d else 0.0)))
            self.sum[k] += v[k]
        self.theta[0] = max(0.0, theta + eta * (2.0 * (self.M + v[d + 1] - v[d]) - 2.0 * theta))
        self.n_inner_products += 2 * n
        self.t += 1
        if self.t == self.stage_steps:
            for k in range(d + 2):
                self.reference[k] = self.sum[k] / self.t
                self.sum[k] = 0.0
            self._end_stage(v)
        return 0

    def _current(self):
        return self.w[: self.design.n_coef]

    def _own_arrays(self):
        return {"w": np.asarray(self.w), "reference": np.asarray(self.reference), "sum": np.asarray(self.sum),
                "theta": np.asarray(self.theta)}

    def _risk(self, scores):
        """var+ + var- + (M + mean- - mean+)_+^2."""
        of_positives, risk = _moments(scores, self.batches.pools.positives)
        of_negatives, more = _moments(scores, self.batches.pools.negatives)
        return risk + more + max(0.0, self.M + of_negatives - of_positives) ** 2


def _moments(scores, pool):
    """The weighted mean and variance of the scores of a pool."""
    s = scores[pool.rows]
    mean = np.mean(pool.weights * s)
    return mean, np.mean(pool.weights * (s - mean) ** 2)
