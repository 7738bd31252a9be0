"""SIMBA: the slack-constrained linear SVM as a game, in sublinear time per step.

Hazan, Koren, Srebro, NIPS 2011. With z_i = y_i x_i / max |x| the problem

    max over |w| <= 1 and slack xi, sum_i w_i xi_i <= V,  of  min_i (<w, z_i> + xi_i)

is a game against a distribution p over the examples. Against p, w takes steps along examples drawn from it
and the slack goes to those with the largest p. Against w, p is updated multiplicatively, with the heights <w, z_i> of
all examples estimated from a single feature, drawn in proportion to its square in w: O(n + d) for a step.

The step sizes depend on the number T of steps. So a game is played for T steps, then one begins for 2 T, and
so on; the average of the longer of the last two is reported.
"""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.linear.feature_bounds import certificate, squared_norms
from kernbench.problems.linear_problem import LinearProblem
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.slack_budget import best_scale, next_retune
from kernbench.problems.water_level import water_level
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_number

MOST_SLACK = 2.0  # enough, as heights lie in [-1, 1]
FIRST_HORIZON = 4096
SMALLEST = 1e-150  # relative to the largest q_i: entries that underflow could never recover


class SIMBA:
    """SIMBA with a given slack budget `nu`, or one tuned to `alpha`; hinge loss.

    With `nu` it solves the slack-constrained problem: ||w|| <= 1, slack nu per unit of weight, the smallest
    margin as large as possible. With `alpha` it solves alpha/2 ||w||^2 + (1/n) sum_i w_i hinge(y_i <w, x_i>):
    its minimiser u solves the other problem at nu = L(u)/||u||, L its mean loss. So from time to time the best multiple
    of the average is computed exactly, and the budget is set to its slack.

    Parameters
    ----------
    design : FeatureDesign
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float, optional
        Regularisation, > 0. Exactly one of `alpha` and `nu` must be given.
    nu : float, optional
        Slack per unit of weight, at least 0 (0 is the hard margin), of w with ||w|| <= 1.
    weights : array-like of shape (n,), optional
        Ones by default.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Draws the seed of the run, which draws two uniform numbers per step.
    initial : Solution, optional
        Where to start. A run of this class with the same settings is continued exactly. Other coefficients give the
        first budget, and are the solution until the first game is over: a game itself begins at w = 0.
    horizon : int, default=4096
        Steps of the first game.

    Attributes
    ----------
    n_inner_products : int
        (n + 3 d) / d for a step, n for each budget that is set.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = ("hinge",)
    granularity = 1
    n_kernel_evaluations = 0

    def __init__(self, design, y, *, alpha=None, nu=None, weights=None, loss="hinge", random_state=None, initial=None,
                 horizon=FIRST_HORIZON):  # fmt: skip
        if (alpha is None) == (nu is None):
            raise ValueError("SIMBA needs exactly one of alpha (regularisation) and nu (slack budget)")
        check_number("horizon", horizon, at_least=1, whole=True)
        self._tuned = alpha is not None
        problem = LinearProblem(
            design, y, alpha=alpha if self._tuned else 1.0, weights=weights, loss=loss, offered=self.losses
        )
        self.problem = problem
        largest = squared_norms(design)[problem.weights > 0].max()
        self._radius = np.sqrt(largest) if largest > 0 else 1.0
        self._columns = type(design)(design.X.T)
        self._volume = problem.total_weight * (1.0 if self._tuned else require_number("nu", nu))
        self._settings = np.array(
            [alpha if self._tuned else -1.0, -1.0 if self._tuned else nu, horizon], dtype=np.float64
        )

        self.n_iter = self._touched = 0
        self.converged, self.first_check = False, int(horizon)
        self._horizon, self._step_in_game = int(horizon), 0
        n, d = problem.n, design.n_coef
        self._u, self._squared_norm = np.zeros(d), 0.0  # w = u / max(1, |u|)
        self._floor = np.where(problem.weights > 0, SMALLEST, 0.0)
        self._q = np.where(problem.weights > 0, 1.0, 0.0)  # p_i is proportional to w_i q_i
        self._counts = np.zeros(n)  # u = sum_i counts_i z_i / sqrt(2 T)
        # The sum of the w so far is sum_i (passed counts_i - lags_i) z_i.
        self._lags, self._passed = np.zeros(n), 0.0
        # Result of the previous game: its average, its coefficients of the y_i x_i, its number of steps.
        self._last, self._last_dual, self._last_length = np.zeros(d), np.zeros(n), 0
        self._stream = UniformStream(seed_of(random_state, initial), 0, width=2)
        if initial is not None:
            self._start_from(initial)

    @property
    def n_inner_products(self):
        """d-dimensional inner products so far."""
        return self._touched // self.problem.design.n_coef

    # --- the game
    # -------------------------------------------------------------------------------------------------

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            if self._step_in_game == self._horizon:
                self._begin_game()
            self._step(*self._stream.next())
            if self._tuned and self.n_iter == next_retune(self.n_iter - 1):
                self._retune()
        return n_iter

    def _begin_game(self):
        self._last, self._last_dual, self._last_length = *self._average(), self._horizon
        self._horizon, self._step_in_game = 2 * self._horizon, 0
        for part in (self._u, self._counts, self._lags):
            part[:] = 0.0
        self._q[:] = np.where(self.problem.weights > 0, 1.0, 0.0)
        self._squared_norm = self._passed = 0.0

    def _step(self, for_example, for_feature):
        problem, d = self.problem, len(self._u)
        mass = np.cumsum(problem.weights * self._q)
        i = _drawn(mass, for_example)
        # w steps along z_i
        size = 1.0 / np.sqrt(2.0 * self._horizon)
        self._u += (size * problem.y[i] / self._radius) * problem.design.rows([i])[0]
        squares = np.cumsum(self._u**2)
        self._squared_norm = squares[-1]
        shrunk = size / max(1.0, np.sqrt(self._squared_norm))
        self._counts[i] += 1.0
        self._lags[i] += self._passed
        self._passed += shrunk
        # update p by the heights along one feature
        v = slack_of_the_likeliest(self._q, problem.weights, self._volume / self._radius)
        if self._squared_norm > 0:
            j = _drawn(squares, for_feature)
            # z_ij |w|^2 / w_j, with w = u / max(1, |u|)
            see = self._squared_norm / (self._u[j] * max(1.0, np.sqrt(self._squared_norm)) * self._radius)
            v = v + see * problem.y * self._columns.rows([j])[0]
        rate = np.sqrt(max(np.log(problem.n), 1e-12) / self._horizon)
        v = np.clip(v, -1.0 / rate, 1.0 / rate)
        self._q *= 1.0 - rate * v + (rate * v) ** 2
        self._q = np.maximum(self._q / self._q.max(), self._floor)
        self._touched += problem.n + 3 * d
        self._step_in_game += 1
        self.n_iter += 1

    # --- what it found
    # --------------------------------------------------------------------------------------------

    def _average(self):
        """The average of this game so far, and the multiples of the y_i x_i in it."""
        dual = (self._passed * self._counts - self._lags) / (max(self._step_in_game, 1) * self._radius)
        return self.problem.design.combine(self.problem.y * dual), dual

    def _direction(self):
        """The average of the longer of the last two games."""
        return self._average() if self._step_in_game >= self._last_length else (self._last, self._last_dual)

    def _judged(self):
        """The direction f, its coefficients of the y_i x_i, its heights y_i f(x_i), and the multiple of f to report."""
        problem, (direction, dual) = self.problem, self._direction()
        heights = problem.y * problem.design.scores(direction)
        if self._tuned:
            scale, _ = best_scale(
                heights, direction @ direction, problem.y, problem.weights, alpha=problem.alpha, fit_intercept=False
            )
        else:
            level = water_level(heights, problem.weights, self._volume).gamma
            scale = 1.0 / level if level > 0 else 1.0
        return direction, dual, heights, scale

    def _retune(self):
        """Set the budget to what the best multiple u of the direction would need: V = sum_i w_i hinge_i / ||u||."""
        problem, (direction, _, heights, scale) = self.problem, self._judged()
        self._touched += problem.n * len(direction)
        if scale > 0:
            loss = problem.loss_sum(scale * problem.y * heights, 0.0)
            self._volume = loss / (scale * np.linalg.norm(direction))

    def objective(self):
        """Return the objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        direction, _, heights, scale = self._judged()
        if not self._tuned:
            return -water_level(heights, self.problem.weights, self._volume).gamma
        return self.problem.primal(scale * direction, scale * self.problem.y * heights)

    def _certificate(self):
        problem, (direction, dual, _, scale) = self.problem, self._judged()
        # w = scale f = (1/(alpha n)) sum_i w_i a_i y_i x_i
        known = problem.alpha * problem.n * scale * dual / np.where(problem.weights > 0, problem.weights, 1.0)
        return certificate(problem, scale * direction, known)

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum; None with `nu`."""
        return self._certificate()[1] if self._tuned else None

    def check(self, tol):
        """Set `converged` to whether the gap is at most `tol` times the objective; never with `nu`, which has no
        gap."""
        if self._tuned:
            objective, gap = self._certificate()
            self.converged = bool(gap <= tol * objective)
        return self.converged

    def solution(self):
        """Return the averaged direction, divided by its level (`nu`) or at its best scale (`alpha`)."""
        direction, _, _, scale = self._judged()
        scalars = [self._stream.position, self._horizon, self._step_in_game, self._squared_norm, self._passed,
                   self._last_length, self._volume]  # fmt: skip
        state = {
            "seed": np.array([self._stream.seed]), "settings": self._settings.copy(),
            "scalars": np.array(scalars, dtype=np.float64), "u": self._u.copy(), "q": self._q.copy(),
            "counts": self._counts.copy(), "lags": self._lags.copy(), "last": self._last.copy(),
            "last_dual": self._last_dual.copy(),
        }  # fmt: skip
        return Solution(scale * direction, 0.0, self.n_iter, state)

    def _start_from(self, initial):
        keys = ["settings", "scalars", "u", "q", "counts", "lags", "last", "last_dual"]
        state = require_state(initial, self.problem.design.n_coef, keys)
        self.n_iter = initial.n_iter
        if (
            state is not None
            and np.array_equal(state["settings"], self._settings)
            and len(state["q"]) == self.problem.n
        ):
            _, scalars, self._u, self._q, self._counts, self._lags, self._last, self._last_dual = state.values()
            position, horizon, step, self._squared_norm, self._passed, length, self._volume = scalars
            self._horizon, self._step_in_game, self._last_length = int(horizon), int(step), int(length)
            self._stream = UniformStream(self._stream.seed, 0, width=2, position=int(position))
            return
        coef = np.array(initial.coef, dtype=np.float64)
        norm = np.linalg.norm(coef)
        if norm > 0:
            self._last, self._last_length = coef / norm, self._horizon
            if self._tuned:
                self._retune()


def slack_of_the_likeliest(q, weights, budget):
    """Return the xi in [0, 2]^n that maximises sum_i w_i q_i xi_i with sum_i w_i xi_i <= budget: largest q_i first."""
    order = np.argsort(-q, kind="stable")
    spent = MOST_SLACK * np.cumsum(weights[order])
    room = np.maximum(budget - (spent - MOST_SLACK * weights[order]), 0.0)
    slack = np.zeros(len(order))
    used = weights[order] > 0
    slack[order[used]] = np.minimum(MOST_SLACK, room[used] / weights[order[used]])
    return slack


def _drawn(cumulative, u):
    """The entry that a uniform number stands for, in proportion to the steps of `cumulative`."""
    return min(int(np.searchsorted(cumulative, u * cumulative[-1], side="right")), len(cumulative) - 1)
