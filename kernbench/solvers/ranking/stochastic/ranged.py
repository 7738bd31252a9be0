"""Methods with runs of stochastic block coordinate descent on g^l(v, lambda): Algorithm 1 of Yao, Lin and Yang.

Each step of a run draws a batch, on which G is a stochastic subgradient of g^l in v and Gl one in lambda, and does

    v <- argmin_v  G'v - anchor'v + (pull + ridge)/2 |v|^2 + |v - v_t|^2 / (2 eta),      lambda <- lambda - theta Gl.

With ``pull`` = 1/mu and ``anchor`` = w/mu this is the step of Algorithm 1, which keeps v near w. Its core (``_sbcd``,
``_batches``) gets the arrays of all runs, a run in a row.
"""

import numpy as np

from kernbench.problems.ranking.sampling import THRESHOLDS, step_of, threshold_step_of
from kernbench.solvers.ranking.stochastic.base import Stochastic
from kernbench.validation.numbers import check_name, check_number


class Ranged(Stochastic):
    """Outer iterations k = 0, 1, …, which are the stages.

    Each takes T_k = inner_steps (k + 1)^2 steps with eta_k = step_size / (k + 1).

    Parameters
    ----------
    step_size : float, optional
        The paper's c; by default 5 over the mean |x|^2 where the last iterate is reported, 0.25 over it for squared
        losses; where means of iterates are reported, 50 and 1 over it.
    threshold_step : float, optional
        Of the thresholds. Stochastic ones take theta_k = threshold_step / (k + 1), as in the paper, by default of
        `step_size`. Exact ones take threshold_step / sqrt(k + 1), by default of the standard deviation of the
        negatives' scores when a stage begins, or 1 for one list of losses. With a constant eta_k / theta_k one
        threshold would lag behind the moving scores by the same share of the pairs in every stage.
    inner_steps : int, default=50 (DCA: 100)
        T_0, the paper's C.
    thresholds : {"exact", "stochastic"}, default="exact"
        "stochastic" is Algorithm 1: a lambda for each positive, 0 at first, that follows its subgradients. "exact"
        replaces them by one threshold of the negatives' scores, computed by a pass over the data when an outer
        iteration begins, and followed from there by the same steps. One list of losses has one lambda either way.
    """

    compiled_core = "kernbench.solvers.ranking.stochastic._sbcd"

    def _set_up_ranged(self, problem, batches, alpha, numbers, *settings, runs, step_size, threshold_step, inner_steps,
                       thresholds, random_state, initial):  # fmt: skip
        """Start; `runs` are tuples of a name, the share l/N of the losses that count, pull and ridge."""
        check_number("inner_steps", inner_steps, at_least=1, whole=True)
        self.exact = check_name("thresholds", thresholds, THRESHOLDS) == "exact"
        sampling = batches.sampling
        self.ranked, self.inner_steps = problem.make(self.core), inner_steps
        self.step_size = step_of(step_size, sampling, self.step_scales)
        step = threshold_step_of(threshold_step, self.step_size, thresholds)
        self.follows_spread = step is None
        self.threshold_step = np.array([1.0 if step is None else step])
        self.names, *numbers_of_runs = zip(*runs)
        self.share, self.pull, ridge = (np.array(values, dtype=np.float64) for values in numbers_of_runs)
        self.damping = self.pull + ridge
        self.v, self.v_sum, self.anchor = np.zeros((3, len(runs), batches.design.n_coef))
        # Every threshold is -inf where all losses count. `lam_sum` holds its sum over steps before `last`.
        self.lam, self.lam_sum, self.last = np.zeros((3, len(runs), batches.n_thresholds))
        self.lam[self.share >= 1.0] = -np.inf
        self._set_up(
            batches, alpha, numbers,
            (*settings, self.step_size, 0.0 if step is None else step, inner_steps, self.exact, sampling.loss.code,
             sampling.batch, sampling.low, sampling.high), inner_steps, random_state, initial,
        )  # fmt: skip

    def _schedule(self):
        """Return eta_k, theta_k and T_k."""
        k = self.stage + 1
        return self.step_size / k, self.threshold_step[0] / (k**0.5 if self.exact else k), self.inner_steps * k**2

    def _left(self):
        return self._schedule()[2] - self.t

    def _begin_runs(self, linear=0.0):
        """Start all runs at w; `linear` is subtracted from each G."""
        self.v[:] = self.w
        self.anchor[:] = self.pull[:, None] * self.w + linear
        self.v_sum[:], self.lam_sum[:], self.last[:] = 0.0, 0.0, 0.0

    def _steps(self, u):
        eta, theta, _ = self._schedule()
        n = self.n_gradients
        return self.core.steps(
            self.batches, u, self.t, eta, theta, self.share[:n], self.damping[:n], self.v[:n], self.v_sum[:n],
            self.anchor[:n], self.lam[:n], self.lam_sum[:n], self.last[:n],
        )  # fmt: skip

    def _means(self):
        """Return the means of the iterates 0 to T - 1 of the stage, and let the thresholds be their own."""
        some = self.share < 1.0
        self.lam[some] = (self.lam_sum[some] + self.lam[some] * (self.t - self.last[some])) / self.t
        return self.v_sum / self.t

    def _scores(self):
        """Return the scores at w."""
        self.n_inner_products += self.design.n_samples
        scores = self.design.scores(self.w)
        if not np.isfinite(scores).all():
            self._refuse_overflow()
        return scores

    def _find_thresholds(self, scores):
        if self.follows_spread:
            self.threshold_step[0] = self.batches.sampling.threshold_scale(scores)
        if not self.core.find_thresholds(self.batches, scores, self.share, self.lam):
            self._refuse_overflow()

    def _own_arrays(self):
        of_runs = {"v": self.v, "v_sum": self.v_sum, "anchor": self.anchor, "lam": self.lam, "lam_sum": self.lam_sum,
                   "last": self.last}  # fmt: skip
        named = {f"{run}_{name}": values[k] for k, run in enumerate(self.names) for name, values in of_runs.items()}
        return {"w": self.w, "threshold_step": self.threshold_step, **named}
