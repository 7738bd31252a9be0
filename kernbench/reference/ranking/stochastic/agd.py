"""Approximate gradient descent on the Moreau smoothing of a ranged sum: AGD-SBCD, and AGD for one list of losses.

Yao, Lin, Yang, "Large-scale Optimization of Partial AUC in a Range of False Positive Rates", Algorithms 1 to 3. The
objective is a difference f^n - f^m of convex functions; prox_l(w) = argmin_v f^l(v) + |v - w|^2 / (2 mu), and
(prox_m(w) - prox_n(w)) / mu is the gradient of the difference of their Moreau envelopes. Both are approximated by a
run of SBCD. The regulariser belongs to f^n.

Scale-free form: all is divided by the number of pairs P N (or by the length M of the list), so that mu' = mu P N and
gamma' = gamma P N are numbers that do not grow with the data.
"""

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.pools import LIST_LOSSES, OF_MEANS, PAIR_LOSSES
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem, check_loss
from kernbench.reference.ranking.ranked_risk import Losses
from kernbench.reference.ranking.stochastic.base import _Ranged
from kernbench.reference.ranking.stochastic.batches import ListBatches, PairBatches
from kernbench.reference.ranking.stochastic.sbcd import SBCD
from kernbench.validation.numbers import check_flag


class _AGD(_Ranged):
    """Algorithms 2 and 3: the outer iterations; one iteration is one step of both runs."""

    step_scale = OF_MEANS

    def _set_up_agd(self, ranked, batches, *, alpha, mu, gamma, shared_batches, **settings):
        check_flag("shared_batches", shared_batches)
        self._mu = mu = require_number("mu", mu, positive=True)
        self._gamma = gamma = require_number("gamma", gamma, positive=True)
        self._shared = shared_batches
        pools = batches.pools
        self._low = SBCD(batches, pools.low, 1.0 / mu, 0.0)
        # alpha/2 |v|^2 + f^n / (n - m): times the width of the range, as the rest is divided by P N
        self._high = SBCD(batches, pools.high, 1.0 / mu, require_number("alpha", alpha) * (pools.high - pools.low))
        self._runs = {"low": self._low, "high": self._high}
        self._set_up_ranged(
            ranked.make(Losses),
            batches,
            alpha,
            pools.batch * (1 if shared_batches else 2),
            mu,
            gamma,
            shared_batches,
            **settings,
        )

    def _step(self, u):
        low, high, size = self._low, self._high, self.batches.pools.batch
        eta, theta, T = self._schedule()
        if self._t == 0:
            low.begin(self.w)
            high.begin(self.w)
            if self._exact:
                self._find_thresholds(self._scores(self.w))
        batch = self.batches.draw(u[:size])
        self._step_of(high, batch, eta, theta)
        if low.share > 0.0:
            self._step_of(low, batch if self._shared else self.batches.draw(u[size:]), eta, theta)
        self._t += 1
        if self._t == T:
            v_n = high.end(T)
            v_m = low.end(T) if low.share > 0.0 else self.w  # prox_0 is the identity
            self._end_stage(v_n)
            self.w = self.w - self._gamma / self._mu * (v_m - v_n)

    def _current(self):
        if self._stage == 0 and self._t > 0:
            return self._high.v_sum / self._t
        return self._ended


class AGDSBCD(_AGD):
    """AGD-SBCD for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Outer iteration k = 0, 1, ... takes T_k = inner_steps (k + 1)^2 steps of SBCD, eta_k = step / (k + 1).
    Batches are uniform draws without replacement; weights multiply the terms of their sums, so that weight k is k
    copies in expectation. `solution` is v_n of the last outer iteration that has ended, the point that the theory
    is about; before the first has ended, the mean of its iterates so far.

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
        Not used by the solver itself: `check` is given its tolerance.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters goes on exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01: zero would be a critical point.
    mu : float, default=1000.0
        The paper's mu' = mu P N: strength of the smoothing.
    gamma : float, default=2000.0
        The paper's gamma' = gamma P N: step of the outer iterations; gamma <= mu is safe where inner runs are exact.
    step : float, optional
        The paper's c; by default 50 over the mean |x|^2, or 1 over it for squared losses.
    threshold_step : float, optional
        theta_k = threshold_step / (k + 1) is the step of the thresholds. By default 1 where they are exact at first,
        and `step`, as in the paper, where they are stochastic.
    inner_steps : int, default=50
        T_0.
    n_positive, n_negative : int, default=100
        The paper's I and J: samples in a batch.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic" is Algorithm 1: a lambda for each positive, 0 at first, that follows its subgradients.
        "exact" replaces them by one threshold of the negatives' scores, computed by a pass over the data when an
        outer iteration begins, and followed from there by the same steps.
    shared_batches : bool, default=True
        Whether both runs use the same batches; False draws and reads twice as many samples.
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, mu=1000.0, gamma=2000.0, step=None, threshold_step=None,
                 inner_steps=50, n_positive=100, n_negative=100, thresholds="exact", shared_batches=True):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        batches = PairBatches(design, ranked, n_positive, n_negative, thresholds)
        self._set_up_agd(ranked, batches, alpha=alpha, mu=mu, gamma=gamma, step=step, threshold_step=threshold_step,
                         inner_steps=inner_steps, thresholds=thresholds, shared_batches=shared_batches,
                         random_state=random_state, initial=initial)  # fmt: skip


class RankedRangeAGD(_AGD):
    """AGD for alpha/2 |w|^2 + the mean of the losses of ranks m to n of one list: Algorithm 3.

    Outer iteration k = 0, 1, ... takes T_k = inner_steps (k + 1)^2 steps of SGD, eta_k = step / (k + 1).
    Batches are uniform draws without replacement; weights multiply the terms of their sums, so that weight k is k
    copies in expectation. `solution` is v_n of the last outer iteration that has ended, the point that the theory
    is about; before the first has ended, the mean of its iterates so far.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n_samples,)
        Labels, -1 or +1; numbers for a loss of a regression.
    alpha : float
        Regularisation, at least 0.
    weights : array-like of shape (n_samples,), optional
    loss : str, default="log_loss"
        One of `losses`.
    ranked_range : (float, float), optional
        (m, n): the losses between rank m and rank n, the largest first, in units of the weights; all by default.
    tol : float, default=1e-3
        Not used by the solver itself: `check` is given its tolerance.
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, and the run one uniform number per sample of a batch.
    initial : Solution, optional
        A run of this class with the same parameters goes on exactly; any other ``coef`` is a starting point. By
        default normal numbers of standard deviation 0.01.
    mu : float, default=1000.0
        The paper's mu' = mu M: strength of the smoothing.
    gamma : float, default=2000.0
        The paper's gamma' = gamma M: step of the outer iterations; gamma <= mu is safe where inner runs are exact.
    step : float, optional
        The paper's c; by default 50 over the mean |x|^2, or 1 over it for squared losses.
    threshold_step : float, optional
        theta_k = threshold_step / (k + 1) is the step of the thresholds. By default 1 where they are exact at first,
        and `step`, as in the paper, where they are stochastic.
    inner_steps : int, default=50
        T_0, the paper's C.
    batch_size : int, default=100
        The paper's J.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic" is Algorithm 3: lambda is 0 at first and follows its subgradients. "exact" computes it by a
        pass over the data when an outer iteration begins, and lets it follow them from there.
    shared_batches : bool, default=True
        Whether both runs use the same batches; False draws and reads twice as many samples.
    """

    losses = LIST_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", ranked_range=None, tol=1e-3,
                 random_state=None, initial=None, mu=1000.0, gamma=2000.0, step=None, threshold_step=None,
                 inner_steps=50, batch_size=100, thresholds="exact", shared_batches=True):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = RangeProblem(y, weights, loss, ranked_range)
        batches = ListBatches(design, ranked, batch_size)
        self._set_up_agd(ranked, batches, alpha=alpha, mu=mu, gamma=gamma, step=step, threshold_step=threshold_step,
                         inner_steps=inner_steps, thresholds=thresholds, shared_batches=shared_batches,
                         random_state=random_state, initial=initial)  # fmt: skip
