"""DCA for ranged sums, with and without a proximal term: Algorithm 4 of Yao, Lin and Yang.

Hu, Ying, Wang, Lyu, "Learning by Minimizing the Sum of Ranked Range", NeurIPS 2020, extended to pairs; the proximal
term as in Wen, Chen, Pong, Comput. Optim. Appl. 69 (2018). An outer iteration linearises f^m at w_k, by a full
subgradient xi, and minimises f^n(w) - <xi, w> + L/2 |w - w_k|^2 by a run of SBCD, from w_k, whose last iterate is
w_{k+1}. All is divided by the number of pairs P N (or by the length M of the list).
"""

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.pools import LIST_LOSSES, OF_LAST, PAIR_LOSSES
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem, check_loss
from kernbench.reference.ranking.ranked_risk import Losses
from kernbench.reference.ranking.stochastic.base import _Ranged
from kernbench.reference.ranking.stochastic.batches import ListBatches, PairBatches
from kernbench.reference.ranking.stochastic.sbcd import SBCD
from kernbench.validation.numbers import check_name


class _DCA(_Ranged):
    """Algorithm 4; one iteration is one step of SBCD."""

    step_scale = OF_LAST

    def _set_up_dca(self, ranked, batches, *, alpha, schedule, proximal=0.0, **settings):
        self._constant = check_name("schedule", schedule, ("decreasing", "constant")) == "constant"
        pools = batches.pools
        self._run = SBCD(batches, pools.high, proximal, require_number("alpha", alpha) * (pools.high - pools.low))
        self._runs = {"high": self._run}
        self._set_up_ranged(ranked.make(Losses), batches, alpha, pools.batch, proximal, self._constant, **settings)

    def _schedule(self):
        if self._constant:
            return self._step_size, self._threshold_step, self._inner_steps
        return super()._schedule()

    def _step(self, u):
        eta, theta, T = self._schedule()
        if self._t == 0:
            self._linearise()
        self._step_of(self._run, self.batches.draw(u), eta, theta)
        self._t += 1
        if self._t == T:
            self._end_stage(self._run.v.copy())
            self.w = self._run.v.copy()

    def _linearise(self):
        pools = self.batches.pools
        if not (self._exact or pools.low > 0.0):
            return self._run.begin(self.w)
        scores = self._scores(self.w)
        if self._exact:
            self._find_thresholds(scores)
        xi = None
        if pools.low > 0.0:
            slopes = self.window.lower_and_subgradient(scores)[1]
            xi = (pools.high - pools.low) * self.design.combine(slopes)
            self.n_inner_products += len(scores)
        self._run.begin(self.w, xi)

    def _current(self):
        return self._run.v if self._t else self._ended


class DCA(_DCA):
    """DCA for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Outer iteration k = 0, 1, ... takes T_k = inner_steps (k + 1)^2 steps of SBCD, eta_k = step / (k + 1).
    Batches are uniform draws without replacement; weights multiply the terms of their sums, so that weight k is k
    copies in expectation. `solution` is the last iterate.

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
    step : float, optional
        The paper's c; by default 5 over the mean |x|^2.
    threshold_step : float, optional
        theta_k = threshold_step / (k + 1) is the step of the thresholds. By default 1 where they are exact at first,
        and `step`, as in the paper, where they are stochastic.
    inner_steps : int, default=100
        T_0, the paper's C.
    schedule : {"decreasing", "constant"}, default="decreasing"
        "constant" keeps eta_k = step, theta_k = threshold_step and T_k = inner_steps.
    n_positive, n_negative : int, default=100
        The paper's I and J: samples in a batch.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic" is Algorithm 1: a lambda for each positive, 0 at first, that follows its subgradients.
        "exact" replaces them by one threshold of the negatives' scores, computed by a pass over the data when an
        outer iteration begins, and followed from there by the same steps.
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, step=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", n_positive=100, n_negative=100, thresholds="exact"):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        batches = PairBatches(design, ranked, n_positive, n_negative, thresholds)
        self._set_up_dca(ranked, batches, alpha=alpha, step=step, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, thresholds=thresholds, random_state=random_state,
                         initial=initial)  # fmt: skip


class ProximalDCA(_DCA):
    """Proximal DCA for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Outer iteration k = 0, 1, ... takes T_k = inner_steps (k + 1)^2 steps of SBCD, eta_k = step / (k + 1), the
    proximal term in closed form. Batches are uniform draws without replacement; weights multiply the terms of their
    sums, so that weight k is k copies in expectation. `solution` is the last iterate.

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
    proximal : float, default=1e-3
        The paper's L / (P N): weight of |w - w_k|^2 / 2.
    step : float, optional
        The paper's c; by default 5 over the mean |x|^2.
    threshold_step : float, optional
        theta_k = threshold_step / (k + 1) is the step of the thresholds. By default 1 where they are exact at first,
        and `step`, as in the paper, where they are stochastic.
    inner_steps : int, default=100
        T_0, the paper's C.
    schedule : {"decreasing", "constant"}, default="decreasing"
        "constant" keeps eta_k = step, theta_k = threshold_step and T_k = inner_steps.
    n_positive, n_negative : int, default=100
        The paper's I and J: samples in a batch.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic" is Algorithm 1: a lambda for each positive, 0 at first, that follows its subgradients.
        "exact" replaces them by one threshold of the negatives' scores, computed by a pass over the data when an
        outer iteration begins, and followed from there by the same steps.
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, proximal=1e-3, step=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", n_positive=100, n_negative=100, thresholds="exact"):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = WindowProblem(y, weights, loss, fpr_range, ranks)
        batches = PairBatches(design, ranked, n_positive, n_negative, thresholds)
        self._set_up_dca(ranked, batches, alpha=alpha, step=step, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, proximal=require_number("proximal", proximal),
                         thresholds=thresholds, random_state=random_state, initial=initial)  # fmt: skip


class RankedRangeDCA(_DCA):
    """DCA for alpha/2 |w|^2 + the mean of the losses of ranks m to n of one list.

    Outer iteration k = 0, 1, ... takes T_k = inner_steps (k + 1)^2 steps of SGD, eta_k = step / (k + 1).
    Batches are uniform draws without replacement; weights multiply the terms of their sums, so that weight k is k
    copies in expectation. `solution` is the last iterate.

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
    step : float, optional
        The paper's c; by default 5 over the mean |x|^2.
    threshold_step : float, optional
        theta_k = threshold_step / (k + 1) is the step of the thresholds. By default 1 where they are exact at first,
        and `step`, as in the paper, where they are stochastic.
    inner_steps : int, default=100
        T_0, the paper's C; with `schedule` "constant" 2,000 to 3,000 in the paper.
    schedule : {"decreasing", "constant"}, default="decreasing"
        "constant" keeps eta_k = step, theta_k = threshold_step and T_k = inner_steps.
    batch_size : int, default=100
        The paper's J.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic": lambda is 0 at first and follows its subgradients. "exact" computes it by a pass over the data
        when an outer iteration begins, and lets it follow them from there.
    """

    losses = LIST_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", ranked_range=None, tol=1e-3,
                 random_state=None, initial=None, step=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", batch_size=100, thresholds="exact"):  # fmt: skip
        check_loss(loss, self.losses)
        ranked = RangeProblem(y, weights, loss, ranked_range)
        batches = ListBatches(design, ranked, batch_size)
        self._set_up_dca(ranked, batches, alpha=alpha, step=step, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, thresholds=thresholds, random_state=random_state,
                         initial=initial)  # fmt: skip
