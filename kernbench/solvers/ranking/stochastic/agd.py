"""Approximate gradient descent on the Moreau smoothing of a ranged sum: AGD-SBCD, and AGD for one list of losses.

Yao, Lin, Yang, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", Algorithms 1 to 3. The
objective is a difference f^n - f^m of convex functions; prox_l(w) = argmin_v f^l(v) + |v - w|^2 / (2 mu), and
(prox_m(w) - prox_n(w)) / mu is the gradient of the difference of their Moreau envelopes. Both are approximated by a
run of SBCD. The regulariser belongs to f^n.

Scale-free form: all is divided by the number of pairs P N (or by the length M of the list), so that mu' = mu P N and
gamma' = gamma P N are numbers that do not grow with the data.
"""

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem, check_loss
from kernbench.problems.ranking.sampling import LIST_LOSSES, OF_MEANS, PAIR_LOSSES, ListSampling, PairSampling
from kernbench.solvers.ranking.stochastic.ranged import Ranged
from kernbench.validation.numbers import check_flag


class AGD(Ranged):
    """Approximate gradient descent, Algorithm 2: the outer iterations; one iteration is one step of both inner runs.

    The inner runs are SBCD (Algorithm 1) or, for one list of losses, its special case (Algorithm 3).

    `solution` is v_n of the last complete outer iteration, the point that the convergence theory covers; during the
    first one, the mean of its iterates so far.

    Parameters
    ----------
    mu : float, default=1000.0
        The paper's mu' = mu P N, or mu M: strength of the smoothing.
    gamma : float, default=2000.0
        The paper's gamma' = gamma P N, or gamma M: step of the outer iterations; gamma <= mu is safe where inner runs
        are exact, and several times mu diverges where `alpha` is large.
    shared_batches : bool, default=True
        Whether both runs use the same batches; False draws and reads twice as many samples.
    """

    step_scales = OF_MEANS

    def _set_up_agd(self, problem, batches, *, alpha, mu, gamma, shared_batches, **settings):
        check_flag("shared_batches", shared_batches)
        self.mu = require_number("mu", mu, positive=True)
        self.gamma = require_number("gamma", gamma, positive=True)
        sampling = batches.sampling
        # alpha/2 |v|^2 + f^n / (n - m): times the width of the range, as the rest is divided by P N
        ridge = require_number("alpha", alpha) * (sampling.high - sampling.low)
        self.n_gradients = 2 if sampling.low > 0.0 else 1  # prox_0 is the identity
        runs = ("high", sampling.high, 1.0 / mu, ridge), ("low", sampling.low, 1.0 / mu, 0.0)
        numbers = sampling.batch * (1 if shared_batches else 2)
        self._set_up_ranged(problem, batches, alpha, numbers, mu, gamma, shared_batches, runs=runs, **settings)

    def _begin_stage(self):
        self._begin_runs()
        if self.exact:
            self._find_thresholds(self._scores())

    def _end_stage(self):
        v_n, v_m = self._means()
        if self.n_gradients == 1:
            v_m = self.w
        self.w = self.w - self.gamma / self.mu * (v_m - v_n)
        return v_n

    def _current(self):
        return self.v_sum[0] / self.t if self.stage == 0 and self.t > 0 else self.ended


class AGDSBCD(AGD):
    """AGD-SBCD for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Parameters
    ----------
    loss : {"log_loss", "hinge", "squared_hinge"}, default="log_loss"
    fpr_range : (float, float), default=(0.0, 1.0)
        The window: fractions of the weight of the negatives, the highest scores first.
    ranks : (int, int), optional
        The window in ranks of negatives, the paper's (m, n), instead of `fpr_range`.
    n_positive, n_negative : int, default=100
        The paper's I and J: samples in a batch.
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, mu=1000.0, gamma=2000.0, step_size=None, threshold_step=None,
                 inner_steps=50, n_positive=100, n_negative=100, thresholds="exact", shared_batches=True,
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        check_loss(loss, self.losses)
        problem = WindowProblem(y, weights, loss, fpr_range, ranks)
        batches = self.core.PairBatches(PairSampling(design, problem, n_positive, n_negative), thresholds)
        self._set_up_agd(problem, batches, alpha=alpha, mu=mu, gamma=gamma, step_size=step_size,
                         threshold_step=threshold_step, inner_steps=inner_steps, thresholds=thresholds,
                         shared_batches=shared_batches, random_state=random_state, initial=initial)  # fmt: skip


class RankedRangeAGD(AGD):
    """AGD for alpha/2 |w|^2 + the mean of the losses of ranks m to n of one list: Algorithm 2 with runs of Algorithm 3.

    Parameters
    ----------
    loss : str, default="log_loss"
        One of `losses`.
    ranked_range : (float, float), optional
        (m, n): the losses between rank m and rank n, the largest first, in units of the weights; all by default.
    batch_size : int, default=100
        The paper's J.
    """

    losses = LIST_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", ranked_range=None, tol=1e-3,
                 random_state=None, initial=None, mu=1000.0, gamma=2000.0, step_size=None, threshold_step=None,
                 inner_steps=50, batch_size=100, thresholds="exact", shared_batches=True, core="compiled"):  # fmt: skip
        super().__init__(core)
        check_loss(loss, self.losses)
        problem = RangeProblem(y, weights, loss, ranked_range)
        batches = self.core.ListBatches(ListSampling(design, problem, batch_size))
        self._set_up_agd(problem, batches, alpha=alpha, mu=mu, gamma=gamma, step_size=step_size,
                         threshold_step=threshold_step, inner_steps=inner_steps, thresholds=thresholds,
                         shared_batches=shared_batches, random_state=random_state, initial=initial)  # fmt: skip
