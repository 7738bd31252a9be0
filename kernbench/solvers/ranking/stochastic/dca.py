"""DCA for ranged sums, with and without a proximal term: Algorithm 4 of Yao, Lin and Yang.

Hu, Ying, Wang, Lyu, "Learning by Minimizing the Sum of Ranked Range", NeurIPS 2020, extended to pairs; the proximal
term as in Wen, Chen, Pong, Comput. Optim. Appl. 69 (2018). An outer iteration linearises f^m at w_k, by a full
subgradient xi, and minimises f^n(w) - <xi, w> + L/2 |w - w_k|^2 by a run of SBCD, from w_k, whose last iterate is
w_{k+1}. All is divided by the number of pairs P N (or by the length M of the list).
"""

from kernbench.problems.margin_problem import require_number
from kernbench.problems.ranking.ranked_problem import RangeProblem, WindowProblem, check_loss
from kernbench.problems.ranking.sampling import LIST_LOSSES, OF_LAST_OF_STAGE, PAIR_LOSSES, ListSampling, PairSampling
from kernbench.solvers.ranking.stochastic.ranged import Ranged
from kernbench.validation.numbers import check_name


class DCABase(Ranged):
    """Algorithm 4; one iteration is one step of SBCD. `solution` is the last iterate.

    Parameters
    ----------
    schedule : {"decreasing", "constant"}, default="decreasing"
        "constant" keeps eta_k = step_size, theta_k = threshold_step and T_k = inner_steps, which for one list of losses
        is 2,000 to 3,000 in the paper.
    """

    step_scales = OF_LAST_OF_STAGE
    proximal = 0.0

    def _set_up_dca(self, problem, batches, *, alpha, schedule, **settings):
        self.constant = check_name("schedule", schedule, ("decreasing", "constant")) == "constant"
        sampling = batches.sampling
        self.width = sampling.high - sampling.low
        runs = (("high", sampling.high, self.proximal, require_number("alpha", alpha) * self.width),)
        self._set_up_ranged(
            problem, batches, alpha, sampling.batch, self.proximal, self.constant, runs=runs, **settings
        )

    def _schedule(self):
        if self.constant:
            return self.step_size, self.threshold_step[0], self.inner_steps
        return super()._schedule()

    def _begin_stage(self):
        is_difference, xi = self.batches.sampling.low > 0.0, 0.0
        if self.exact or is_difference:
            scores = self._scores()
        if self.exact:
            self._find_thresholds(scores)
        if is_difference:
            try:
                slopes = self.ranked.lower_and_subgradient(scores)[1]
            except ValueError:  # finite scores, but too far apart
                self._refuse_overflow()
            xi = self.width * self.design.combine(slopes)
            self.n_inner_products += self.design.n_samples
        self._begin_runs(xi)

    def _end_stage(self):
        self.w = self.v[0].copy()
        return self.w

    def _current(self):
        return self.v[0] if self.t else self.ended


class DCA(DCABase):
    """DCA for alpha/2 |w|^2 + the mean pair loss over a window of false positive rates.

    Parameters
    ----------
    loss, fpr_range, ranks, n_positive, n_negative : see `AGDSBCD`
    """

    losses = PAIR_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, step_size=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", n_positive=100, n_negative=100, thresholds="exact",
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        check_loss(loss, self.losses)
        problem = WindowProblem(y, weights, loss, fpr_range, ranks)
        batches = self.core.PairBatches(PairSampling(design, problem, n_positive, n_negative), thresholds)
        self._set_up_dca(problem, batches, alpha=alpha, step_size=step_size, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, thresholds=thresholds, random_state=random_state,
                         initial=initial)  # fmt: skip


class ProximalDCA(DCA):
    """DCA with a proximal term, in closed form.

    Parameters
    ----------
    proximal : float, default=1e-3
        The paper's L / (P N): weight of |w - w_k|^2 / 2.
    """

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", fpr_range=(0.0, 1.0), ranks=None, tol=1e-3,
                 random_state=None, initial=None, proximal=1e-3, step_size=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", n_positive=100, n_negative=100, thresholds="exact",
                 core="compiled"):  # fmt: skip
        self.proximal = require_number("proximal", proximal)
        super().__init__(design, y, alpha=alpha, weights=weights, loss=loss, fpr_range=fpr_range, ranks=ranks,
                         random_state=random_state, initial=initial, step_size=step_size, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, n_positive=n_positive, n_negative=n_negative,
                         thresholds=thresholds, core=core)  # fmt: skip


class RankedRangeDCA(DCABase):
    """DCA for alpha/2 |w|^2 + the mean of the losses of ranks m to n of one list.

    Parameters
    ----------
    loss, ranked_range, batch_size : see `RankedRangeAGD`
    """

    losses = LIST_LOSSES

    def __init__(self, design, y, *, alpha, weights=None, loss="log_loss", ranked_range=None, tol=1e-3,
                 random_state=None, initial=None, step_size=None, threshold_step=None, inner_steps=100,
                 schedule="decreasing", batch_size=100, thresholds="exact", core="compiled"):  # fmt: skip
        super().__init__(core)
        check_loss(loss, self.losses)
        problem = RangeProblem(y, weights, loss, ranked_range)
        batches = self.core.ListBatches(ListSampling(design, problem, batch_size))
        self._set_up_dca(problem, batches, alpha=alpha, step_size=step_size, threshold_step=threshold_step,
                         inner_steps=inner_steps, schedule=schedule, thresholds=thresholds, random_state=random_state,
                         initial=initial)  # fmt: skip
