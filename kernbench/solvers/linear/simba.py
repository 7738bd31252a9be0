"""SIMBA: the slack-constrained linear SVM as a game, in sublinear time per step.

Hazan, Koren, Srebro, NIPS 2011. With z_i = y_i x_i / max |x| the problem

    max over |w| <= 1 and slack xi, sum_i w_i xi_i <= V,  of  min_i (<w, z_i> + xi_i)

is a game against a distribution p over the examples. Against p, w takes steps along examples drawn from it
and the slack goes to those with the largest p. Against w, p is updated multiplicatively, with the heights <w, z_i> of
all examples estimated from a single feature, drawn in proportion to its square in w: O(n + d) for a step. Columns are
read from a transposed copy of X, which doubles its memory.

The step sizes sqrt(log n / T), n the number of rows with a weight, and 1/sqrt(2 T) depend on the number T of steps. So
a game is played for T steps, then one begins for 2 T, and so on; the average of the longer of the last two is reported.
"""

import numpy as np

from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.margin_problem import require_number
from kernbench.problems.slack_budget import best_scale, next_retune
from kernbench.problems.water_level import water_level
from kernbench.solvers.linear.primal import PrimalSolver
from kernbench.validation.numbers import check_number

FIRST_HORIZON = 4096
STEPS, TOUCHED, IN_GAME, SQUARED_NORM, PASSED, EDGE, REACH = range(7)  # places in `numbers`


class SIMBA(PrimalSolver):
    """SIMBA with a given slack budget `nu`, or one tuned to `alpha`; hinge loss.

    With `nu` it solves the slack-constrained problem: ||w|| <= 1, slack nu per unit of weight, the smallest
    margin as large as possible. With `alpha` it solves alpha/2 ||w||^2 + (1/n) sum_i w_i hinge(y_i <w, x_i>):
    its minimiser u solves the other problem at nu = L(u)/||u||, L its mean loss. So from time to time the best multiple
    of the average is computed exactly, and the budget is set to its slack.

    Parameters
    ----------
    design, y, weights, core : see `PrimalSolver`
    alpha : float, optional
        Regularisation, > 0. Exactly one of `alpha` and `nu` must be given.
    nu : float, optional
        Slack per unit of weight, at least 0 (0 is the hard margin), of w with ||w|| <= 1.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws two uniform numbers per step.
    initial : Solution, optional
        The starting point. A run of this class with the same settings is continued exactly. Other coefficients give the
        first budget, and are the solution until the first game is over: a game itself begins at w = 0.
    horizon : int, default=4096
        Steps of the first game.

    Attributes
    ----------
    n_inner_products : int
        (n + 3 d) / d for a step, n for each budget that is set.
    """

    losses = ("hinge",)

    def __init__(self, design, y, *, alpha=None, nu=None, weights=None, loss="hinge", random_state=None, initial=None,
                 horizon=FIRST_HORIZON, core="compiled"):  # fmt: skip
        if (alpha is None) == (nu is None):
            raise ValueError("SIMBA needs exactly one of alpha (regularisation) and nu (slack budget)")
        check_number("horizon", horizon, at_least=1, whole=True)
        self.is_tuned = alpha is not None
        super().__init__(core, design, y, alpha=alpha if self.is_tuned else 1.0, weights=weights, loss=loss,
                         random_state=random_state, initial=initial, width=2)  # fmt: skip
        problem, n, d = self.problem, self.problem.n, design.n_coef
        largest = squared_norms(design)[problem.weights > 0].max()
        self.radius = np.sqrt(largest) if largest > 0 else 1.0
        self.columns = type(design)(design.X.T)
        self.volume = problem.total_weight * (1.0 if self.is_tuned else require_number("nu", nu))
        settings = [alpha, -1.0, horizon] if self.is_tuned else [-1.0, nu, horizon]
        self.settings = np.array(settings, dtype=np.float64)
        self.first_check = self.horizon = int(horizon)
        self.u = np.zeros(d)  # w = u / max(1, |u|)
        self.q = np.where(problem.weights > 0, 1.0, 0.0)  # p_i is proportional to w_i q_i
        self.counts = np.zeros(n)  # u = sum_i counts_i z_i / sqrt(2 T)
        self.lags = np.zeros(n)  # the sum of the w so far is sum_i (passed counts_i - lags_i) z_i
        self.numbers = np.zeros(7)
        self.numbers[EDGE], self.numbers[REACH] = 1.0, 0.1
        # Result of the previous game: its average, its coefficients of the y_i x_i, its number of steps.
        self.last, self.last_dual, self.last_length = np.zeros(d), np.zeros(n), 0
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        return int(self.numbers[TOUCHED]) // self.design.n_coef

    # --- the game ----------------------------------------------------------------------------------------------------

    def _begin_series(self):
        """Begin a game where one is over; a series ends with the game, or where the budget is due to be updated."""
        if self.numbers[IN_GAME] == self.horizon:
            self._begin_game()
        self.mark = next_retune(self.n_iter) if self.is_tuned else np.inf
        return int(min(super()._begin_series(), self.horizon - self.numbers[IN_GAME], self.mark - self.n_iter))

    def _steps(self, drawn):
        self.core.steps(
            self.design, self.columns, self.problem, drawn, self.horizon, self.radius, self.volume / self.radius,
            self.u, self.q, self.counts, self.lags, self.numbers,
        )  # fmt: skip
        if self.n_iter == self.mark:
            self._retune()

    def _begin_game(self):
        self.last, self.last_dual, self.last_length = *self._average(), self.horizon
        self.horizon *= 2
        for part in (self.u, self.counts, self.lags):
            part[:] = 0.0
        self.q[:] = np.where(self.problem.weights > 0, 1.0, 0.0)
        self.numbers[IN_GAME] = self.numbers[SQUARED_NORM] = self.numbers[PASSED] = 0.0

    def _retune(self):
        """Set the budget to what the best multiple u of the direction would need: V = sum_i w_i hinge_i / ||u||."""
        problem, (direction, _, heights, scale) = self.problem, self._judged()
        self.numbers[TOUCHED] += problem.n * len(direction)
        if scale > 0:
            loss = problem.loss_sum(scale * problem.y * heights, 0.0)
            self.volume = loss / (scale * np.linalg.norm(direction))

    # --- what it found -----------------------------------------------------------------------------------------------

    def _average(self):
        """The average of this game so far, and the multiples of the y_i x_i in it."""
        sums = self.numbers[PASSED] * self.counts - self.lags
        dual = sums / (max(self.numbers[IN_GAME], 1.0) * self.radius)
        return self.design.combine(self.problem.y * dual), dual

    def _direction(self):
        """The average of the longer of the last two games."""
        return self._average() if self.numbers[IN_GAME] >= self.last_length else (self.last, self.last_dual)

    def _judged(self):
        """The direction f, its coefficients of the y_i x_i, its heights y_i f(x_i), and the multiple of f to report."""
        problem, (direction, dual) = self.problem, self._direction()
        heights = problem.y * self.design.scores(direction)
        if self.is_tuned:
            scale, _ = best_scale(
                heights, direction @ direction, problem.y, problem.weights, alpha=problem.alpha, fit_intercept=False
            )
        else:
            level = water_level(heights, problem.weights, self.volume).gamma
            scale = 1.0 / level if level > 0 else 1.0
        return direction, dual, heights, scale

    def objective(self):
        """Return the objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        direction, _, heights, scale = self._judged()
        if not self.is_tuned:
            return -water_level(heights, self.problem.weights, self.volume).gamma
        return self.problem.primal(scale * direction, scale * self.problem.y * heights)

    def _certificate(self):
        problem, (direction, dual, _, scale) = self.problem, self._judged()
        # w = scale f = (1/(alpha n)) sum_i w_i a_i y_i x_i
        known = problem.alpha * problem.n * scale * dual / np.where(problem.weights > 0, problem.weights, 1.0)
        return certificate(problem, scale * direction, known)

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum; None with `nu`."""
        return super().gap() if self.is_tuned else None

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective; never with `nu`, which has no
        gap."""
        return super().check(tol) if self.is_tuned else False

    def _coef(self):
        """The averaged direction, divided by its level (`nu`) or at its best scale (`alpha`)."""
        direction, _, _, scale = self._judged()
        return scale * direction

    def _arrays(self):
        return {"u": self.u, "q": self.q, "counts": self.counts, "lags": self.lags, "last": self.last,
                "last_dual": self.last_dual}  # fmt: skip

    def _scalars(self):
        return self.horizon, *self.numbers[IN_GAME:EDGE], self.last_length, self.volume

    def _resume(self, coef, *scalars):
        horizon, *self.numbers[IN_GAME:EDGE], length, self.volume = scalars
        self.horizon, self.last_length = int(horizon), int(length)

    def _warm_start(self, coef):
        norm = np.linalg.norm(coef)
        if norm > 0:
            self.last, self.last_length = coef / norm, self.horizon
            if self.is_tuned:
                self._retune()
