"""The stochastic batch perceptron (SBP) of Cotter, Shalev-Shwartz and Srebro (2012).

Among the functions of norm at most 1, it looks for the one whose smallest margin, after a budget of slack is spent
where it helps most, is as high as possible. Its value is the water level gamma of the heights c_i = y_i f(x_i); an
example drawn from those below the level gives an unbiased supergradient y_i k(x_i, .), along which f takes a step of
length 1/sqrt(t), and is projected back onto the ball. Dividing the averaged f by gamma restores margins of 1.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.draws import as_generator, open_streams
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state
from kernbench.problems.slack_budget import best_scale, next_retune, tuned_volume
from kernbench.problems.water_level import water_level
from kernbench.solvers.base import Solution
from kernbench.solvers.method import CostlyGap
from kernbench.validation.numbers import check_number


class SBP(CostlyGap):
    """Stochastic batch perceptron with a given slack budget `nu`, or one tuned to `alpha`.

    With `nu` it solves the slack-constrained problem (S) of the paper. With `alpha` it solves alpha/2 ||f||^2
    + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)): that minimiser u solves (S) at nu = L(u)/||u||, L its mean
    hinge loss (Lemma 2.1). So from time to time the best multiple of the averaged direction (and b) is
    computed exactly, and the budget is set from it (see `tuned_volume`).

    Parameters
    ----------
    rows, y, weights : see `MarginProblem`
    alpha : float, optional
        Regularisation, > 0. Exactly one of `alpha` and `nu` must be given.
    nu : float, optional
        Slack per unit of weight, at least 0 (0 is the hard margin), of functions with ||f|| <= 1.
    fit_intercept : bool, default=True
    loss : {"hinge"}
        The slack of a margin is its hinge loss; no other loss is offered.
    burn_in : int, default=0
        Steps left out of the average; the paper's T0.
    average_power : float, optional
        The iterate after step t enters the average with weight (t/1000)^average_power. By default 0 with `nu`
        (the paper's average) and 2 with `alpha` (early steps are discounted, which helps most if alpha is small).
    fetch_rows : int, default=16
        Largest number of kernel rows fetched together, up to 64; a row costs little more in a batch of 16, of which a
        quarter fewer remain unused than of 64. With 1 only rows that steps need are fetched, so `n_kernel_evaluations`
        is the paper's count without the rows found in the cache. The iterates are the same. No effect in the
        reference, which computes rows one by one.
    random_state : None, int, RandomState or Generator
        Draws one seed for three streams of uniform numbers: coins, and proposals for each basin.
    initial : Solution, optional
        The starting point. With the state of an SBP run (``dual``, ``responses``, ``average``, ``average_responses``,
        ``scalars``, ``streams``) that run is continued; otherwise ``coef`` gives the first direction, and ``n_iter``
        the step sizes.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    separable : bool
        False while, at this `nu`, the level of the average is not positive: dividing by it would flip signs,
        so `solution` returns the average itself. Always True with `alpha`.

    References
    ----------
    Cotter, Shalev-Shwartz, Srebro: The Kernelized Stochastic Batch Perceptron, ICML 2012.
    """

    losses = ("hinge",)

    def __init__(self, rows, y, *, alpha=None, nu=None, weights=None, fit_intercept=True, loss="hinge", burn_in=0,
                 average_power=None, fetch_rows=16, random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        if (alpha is None) == (nu is None):
            raise ValueError("SBP needs exactly one of alpha (regularisation) and nu (slack budget)")
        margin_loss(loss, offered=self.losses)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self.problem, self.rows, self.is_tuned = problem, rows, alpha is not None
        self.basins = problem.y if problem.fit_intercept else None
        burn_in = check_number("burn_in", burn_in, at_least=0, whole=True)
        if average_power is None:
            average_power = 2.0 if self.is_tuned else 0.0
        power = require_number("average_power", average_power)
        fetch_rows = check_number("fetch_rows", fetch_rows, at_least=1, whole=True)
        self.first_check = problem.n
        self.volume = problem.total_weight * (1.0 if self.is_tuned else require_number("nu", nu))
        self.work = self.core.Work(rows, problem, burn_in, power, fetch_rows)
        self.streams = open_streams(int(as_generator(random_state).integers(2**53)))
        self.last_objective, self.objective_at = None, -1
        if initial is not None:
            self._start_from(initial)

    @property
    def n_iter(self):
        return self.work.n_iter

    @property
    def n_kernel_evaluations(self):
        return self.work.n_kernel_evaluations

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            mark = next_retune(self.n_iter) if self.is_tuned else np.inf
            done += self.core.steps(self.work, int(min(n_iter - done, mark - self.n_iter)), self.streams, self.volume)
            if self.n_iter == mark:
                self._retune()
        return done

    def _retune(self):
        """Set the budget from the best multiple of the averaged direction, if that multiple is positive."""
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        if scale > 0:
            problem = self.problem
            loss = problem.loss_sum(scale * problem.y * heights, intercept)
            squared_norm = direction @ heights
            self.volume = tuned_volume(loss, scale, direction.sum(), squared_norm, problem.alpha * problem.n)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _direction(self):
        """The averaged dual variables and heights; the current ones before there is an average."""
        work = self.work
        if work.average_weight == 0:
            return work.dual(), work.heights
        return work.sums() / work.average_weight, work.height_sums / work.average_weight

    def _level_of_average(self):
        return water_level(self._direction()[1], self.problem.weights, self.volume, self.basins)

    def _scale_and_intercept(self):
        if self.is_tuned:
            (direction, heights), problem = self._direction(), self.problem
            return best_scale(
                heights,
                direction @ heights,
                problem.y,
                problem.weights,
                alpha=problem.alpha,
                fit_intercept=problem.fit_intercept,
            )
        level = self._level_of_average()
        return (1.0, level.b) if level.gamma <= 0 else (1.0 / level.gamma, level.b / level.gamma)

    def _scaled(self):
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        signed = scale * self.problem.y
        return signed * direction, signed * heights, intercept

    @property
    def separable(self):
        return self.is_tuned or self._level_of_average().gamma > 0

    def solution(self):
        """Return the averaged direction, divided by its level (`nu`) or at its best scale (`alpha`)."""
        work = self.work
        coef, _, intercept = self._scaled()
        state = {
            "dual": np.array(work.dual()),
            "responses": np.array(work.heights),
            "average": np.array(work.sums()),
            "average_responses": np.array(work.height_sums),
            "scalars": np.array([work.squared_norm, work.average_weight, self.volume]),
            "streams": np.array([self.streams[0].seed, *(s.position for s in self.streams)], dtype=np.float64),
        }
        return Solution(coef, intercept, self.n_iter, state)

    def objective(self):
        """Return the objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        if self.objective_at != self.n_iter:
            if self.is_tuned:
                coef, responses, intercept = self._scaled()
                self.last_objective = self.problem.objective(responses, coef @ responses, intercept)
            else:
                self.last_objective = -self._level_of_average().gamma
            self.objective_at = self.n_iter
        return self.last_objective

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum; None with `nu`."""
        return super().gap() if self.is_tuned else None

    def known_gap(self):
        return super().known_gap() if self.is_tuned else None

    def _find_gap(self):
        return self.problem.gap(*self._scaled())

    def _start_from(self, initial):
        keys = ("dual", "responses", "average", "average_responses", "scalars", "streams")
        state = require_state(initial, self.problem.n, keys)
        if state is not None:
            squared_norm, average_weight, volume = state["scalars"].tolist()
            arrays = (state[key] for key in keys[:4])
            self.work.resume(initial.n_iter, *arrays, squared_norm, average_weight)
            if self.is_tuned:
                self.volume = volume
            seed, *positions = (int(x) for x in state["streams"])
            self.streams = open_streams(seed, positions)
            return
        y, zeros = self.problem.y, np.zeros(self.problem.n)
        dual = np.maximum(0.0, y * initial.coef)
        heights = y * self.rows.matvec(y * dual)
        norm = np.sqrt(max(0.0, dual @ heights))
        has_direction = norm > 0
        if has_direction:
            dual, heights = dual / norm, heights / norm
        else:
            dual, heights = zeros.copy(), zeros.copy()
        self.work.resume(initial.n_iter, dual, heights, zeros, zeros.copy(), float(has_direction), 0.0)
        if has_direction and self.is_tuned:
            self._retune()
