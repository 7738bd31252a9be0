"""Naive mini-batches for the partial AUC: the window of each batch instead of that of all negatives.

Kar, Narasimhan, Jain, "Online and Stochastic Gradient Methods for Non-decomposable Loss Functions", NeurIPS 2014. The
expected loss of a batch's window is not that of the window of all negatives, so the method is biased, less so for
larger batches.
"""

import numpy as np

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import WindowProblem, check_loss
from kernbench.problems.ranking.sampling import OF_LAST, OF_MEANS, PAIR_LOSSES, PairSampling, step_of
from kernbench.solvers.ranking.stochastic.base import Stochastic
from kernbench.validation.numbers import check_flag

FIRST = 100  # steps of the first stage; the second one ends after twice as many in all, and so on


class MiniBatch(Stochastic):
    """Mini-batch descent for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Step t = 1, 2, … draws positives and negatives without replacement and descends by step_size / sqrt(t) on the mean
    loss over the window of the batch. A window covers mass, so that its ends may cut a negative in two; the published
    method rounds them to ranks. The regulariser is handled in closed form. The stages that the stopping rule compares
    end after 100, 200, 400, … steps.

    Parameters
    ----------
    loss, fpr_range, ranks, n_positive, n_negative : see `AGDSBCD`
    step_size : float, optional
        The paper's c; by default 50 over the mean |x|^2, or 5 without `average`; for the squared hinge 1 over it.
    radius : float, optional
        Project on the ball of this radius after each step. By default there is no projection.
    average : bool, default=True
        `solution` is the mean of the iterates; False gives the last one.
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, step_size=None, n_positive=100, n_negative=100, radius=None,
                 average=True, core="compiled"):  # fmt: skip
        super().__init__(core)
        check_flag("average", average)
        self.radius = np.inf if radius is None else require_number("radius", radius, positive=True)
        self.average = average
        check_loss(loss, self.losses)
        problem = WindowProblem(y, weights, loss, fpr_range, ranks)
        sampling = PairSampling(design, problem, n_positive, n_negative)
        self.step_size = step_of(step_size, sampling, OF_MEANS if average else OF_LAST)
        self.ranked = problem.make(self.core)
        self.steps, self.sum = np.zeros(1), np.zeros(design.n_coef)  # steps, and the sum of the iterates after each
        settings = self.step_size, self.radius, average, sampling.loss.code, sampling.batch, sampling.low, sampling.high
        self._set_up(self.core.PairBatches(sampling), alpha, sampling.batch, settings, FIRST, random_state, initial)

    def _left(self):
        return FIRST * 2**self.stage - int(self.steps[0])

    def _steps(self, u):
        first = self.steps[0] + 1
        sampling = self.batches.sampling
        taken = self.core.steps(
            self.batches, u, first, self.step_size, self.alpha, sampling.low, sampling.high, self.radius, self.w,
            self.sum,
        )  # fmt: skip
        self.steps += taken
        return taken

    def _end_stage(self):
        return self._current()

    def _current(self):
        return self.sum / self.steps[0] if self.average and self.steps[0] else self.w

    def _own_arrays(self):
        return {"w": self.w, "sum": self.sum, "steps": self.steps}
