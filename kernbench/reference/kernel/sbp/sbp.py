"""The stochastic batch perceptron: supergradient ascent of the water level on the unit ball.

Cotter, Shalev-Shwartz, Srebro, ICML 2012. Instead of min over f of a regularised hinge loss, SBP solves the
slack-constrained form: ||f|| <= 1, a budget of W nu for the total weighted slack, and the smallest margin as
high as possible. Its value is the water level gamma of the heights c_i = y_i f(x_i); an example drawn from those below
the level gives an unbiased supergradient y_i k(x_i, .). Dividing the averaged f by gamma restores margins of 1.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.draws import as_generator, cumulative_weights, open_streams
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state
from kernbench.problems.slack_budget import best_scale, next_retune, tuned_volume
from kernbench.problems.water_level import NO_LEVEL, water_level
from kernbench.solvers.base import Diverged, Solution
from kernbench.validation.numbers import check_number

DRIFT_STEPS = 1000  # steps between two recomputations of ||f||^2
TRIES = 256  # refused proposals after which an exact walk decides


class SBP:
    """Stochastic batch perceptron with a given slack budget `nu`, or one tuned to `alpha`.

    With `nu` it solves the slack-constrained problem (S) of the paper. With `alpha` it solves alpha/2 ||f||^2
    + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)): that minimiser u solves (S) at nu = L(u)/||u||, L its mean
    hinge loss (Lemma 2.1). So from time to time the best multiple of the averaged direction (and b) is
    computed exactly, and the budget is set from it (see `tuned_volume`).

    Parameters
    ----------
    rows : KernelRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float, optional
        Regularisation, > 0. Exactly one of `alpha` and `nu` must be given.
    nu : float, optional
        Slack per unit of weight, at least 0 (0 is the hard margin), of functions with ||f|| <= 1.
    weights : array-like of shape (n,), optional
        Ones by default.
    fit_intercept : bool, default=True
    loss : {"hinge"}
        The slack of a margin is its hinge loss; no other loss is offered.
    burn_in : int, default=0
        Steps left out of the average; the paper's T0.
    average_power : float, optional
        The iterate after step t enters the average with weight (t/1000)^average_power. By default 0 with `nu`
        (the paper's average) and 2 with `alpha` (early steps are discounted, which helps most if alpha is small).
    fetch_rows : int, default=16
        No effect here: rows are computed one by one.
    random_state : None, int, RandomState or Generator
        Draws one seed for three streams of uniform numbers: coins, and proposals for each basin.
    initial : Solution, optional
        Where to start. With the state of an SBP run (``dual``, ``responses``, ``average``,
        ``average_responses``, ``scalars``, ``streams``) that run is continued; otherwise ``coef`` gives the first
        direction, and ``n_iter`` the step sizes.

    Attributes
    ----------
    separable : bool
        False while, at this `nu`, the level of the average is not positive: dividing by it would flip signs,
        so `solution` returns the average itself. Always True with `alpha`.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = ("hinge",)
    granularity = 1

    def __init__(self, rows, y, *, alpha=None, nu=None, weights=None, fit_intercept=True, loss="hinge", burn_in=0,
                 average_power=None, fetch_rows=16, random_state=None, initial=None):  # fmt: skip
        if (alpha is None) == (nu is None):
            raise ValueError("SBP needs exactly one of alpha (regularisation) and nu (slack budget)")
        margin_loss(loss, offered=self.losses)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self._problem, self._tuned = problem, alpha is not None
        self._basins = problem.y if problem.fit_intercept else None
        self._burn_in = check_number("burn_in", burn_in, at_least=0, whole=True)
        check_number("fetch_rows", fetch_rows, at_least=1, whole=True)
        self._bound = 0.0  # the best lower bound on the optimum so far
        if average_power is None:
            average_power = 2.0 if self._tuned else 0.0
        self._power = require_number("average_power", average_power)
        self._diagonal = rows.diagonal()
        largest = self._diagonal[problem.weights > 0].max()
        self._first_rate = 1.0 / np.sqrt(largest) if largest > 0 else 1.0
        self._streams = open_streams(int(as_generator(random_state).integers(2**53)))

        self.n_iter = 0
        self.n_kernel_evaluations = 0
        self.converged = False
        self.first_check = problem.n
        self._dual = np.zeros(problem.n)  # alpha_i >= 0: f = sum_i alpha_i y_i k(x_i, .)
        self._heights = np.zeros(problem.n)  # c_i = y_i f(x_i)
        self._squared_norm = 0.0  # ||f||^2 = alpha . c
        self._average = np.zeros(problem.n)  # sums over the steps, not yet divided by their weight
        self._average_heights = np.zeros(problem.n)
        self._average_weight = 0.0
        self._volume = problem.total_weight * (1.0 if self._tuned else require_number("nu", nu))
        if initial is not None:
            self._start_from(initial)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for _ in range(n_iter):
            self._step()
        return n_iter

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it.

        Never with `nu`, where there is no gap.
        """
        if self._tuned:
            self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Return the averaged direction, divided by its level (`nu`) or at its best scale (`alpha`)."""
        direction, _ = self._direction()
        scale, intercept = self._scale_and_intercept()
        state = {
            "dual": self._dual.copy(),
            "responses": self._heights.copy(),
            "average": self._average.copy(),
            "average_responses": self._average_heights.copy(),
            "scalars": np.array([self._squared_norm, self._average_weight, self._volume]),
            "streams": np.array([self._streams[0].seed, *(s.position for s in self._streams)], dtype=np.float64),
        }
        return Solution(scale * self._problem.y * direction, intercept, self.n_iter, state)

    def objective(self):
        """Return the objective of `solution`; with `nu`, minus the water level of the averaged direction."""
        if not self._tuned:
            return -self._level_of_average().gamma
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        return self._problem.objective(scale * self._problem.y * heights, scale**2 * (direction @ heights), intercept)

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum; None with `nu`."""
        if not self._tuned:
            return None
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        signed = scale * self._problem.y
        gap = self._problem.gap(signed * direction, signed * heights, intercept)
        self._bound = max(self._bound, self.objective() - gap)
        return gap

    def known_gap(self):
        """Return the objective minus the best lower bound that `gap` has found so far, 0 before; None with `nu`."""
        return max(0.0, self.objective() - self._bound) if self._tuned else None

    @property
    def separable(self):
        return self._tuned or self._level_of_average().gamma > 0

    def _step(self):
        y, c = self._problem.y, self._heights
        if not np.all(np.isfinite(c)):
            raise Diverged(NO_LEVEL)
        level = water_level(c, self._problem.weights, self._volume, self._basins)
        i = self._choose(level)

        self.n_iter += 1
        rate = self._first_rate / np.sqrt(self.n_iter)
        self._squared_norm += 2 * rate * c[i] + rate**2 * self._diagonal[i]  # with c before the step
        self._dual[i] += rate
        c += rate * y[i] * y * self._problem.rows.row(i)
        self.n_kernel_evaluations += self._problem.n
        if self._squared_norm > 1:
            shrink = 1.0 / np.sqrt(self._squared_norm)
            self._dual *= shrink
            c *= shrink
            self._squared_norm = 1.0
        if self.n_iter % DRIFT_STEPS == 0:
            self._squared_norm = self._dual @ c

        if self.n_iter > self._burn_in:
            share = (self.n_iter / 1000) ** self._power
            self._average += share * self._dual
            self._average_heights += share * c
            self._average_weight += share
        if self._tuned and self.n_iter == next_retune(self.n_iter - 1):
            self._retune()

    def _choose(self, level):
        """Draw an example from p*: the class by a fair coin (two basins), then by weight among those below the level.

        Examples of the class are proposed at random, by weight; the first one below the level is taken. Those at the
        edge may be covered in part: they are taken with the probability of that part.
        """
        coins, *proposals = self._streams
        members, edge, stream = self._problem.weights > 0, level.positive, proposals[0]
        if self._basins is not None:
            heads = coins.next()[0] < 0.5
            edge, stream = (level.positive, proposals[0]) if heads else (level.negative, proposals[1])
            members &= self._basins == (1 if heads else -1)
        members = np.flatnonzero(members)
        weights, heights = self._problem.weights[members], self._heights[members]
        at_edge = weights[heights == edge].sum()
        share = min((level.mass - weights[heights < edge].sum()) / at_edge, 1.0)
        cumulative = cumulative_weights(weights)
        for _ in range(TRIES):
            u, v = stream.next()
            if cumulative is None:
                k = int(u * len(members))
            else:
                k = np.searchsorted(cumulative, u * cumulative[-1], side="right")
            k = min(k, len(members) - 1)
            if heights[k] < edge or (heights[k] == edge and v < share):
                return members[k]
        return members[self._walk(heights, weights, edge, level.mass, *stream.next())]

    @staticmethod
    def _walk(heights, weights, edge, mass, rank, tie):
        """The same draw without rejections: by `rank` among those below the edge, else by `tie` among those at it."""
        below = np.flatnonzero(heights < edge)
        cumulative = np.cumsum(weights[below])
        r = rank * mass
        if len(below) and r < cumulative[-1]:
            return below[np.searchsorted(cumulative, r, side="right")]
        at_edge = np.flatnonzero(heights == edge)
        cumulative = np.cumsum(weights[at_edge])
        k = np.searchsorted(cumulative, tie * cumulative[-1], side="right")
        return at_edge[min(k, len(at_edge) - 1)]

    def _retune(self):
        """Set the budget from the best multiple of the averaged direction, if that multiple is positive."""
        direction, heights = self._direction()
        scale, intercept = self._scale_and_intercept()
        if scale > 0:
            self._volume = tuned_volume(
                self._problem.loss_sum(scale * self._problem.y * heights, intercept),
                scale,
                direction.sum(),
                direction @ heights,
                self._problem.alpha * self._problem.n,
            )

    def _direction(self):
        """The averaged dual variables and heights; the current ones before there is an average."""
        if self._average_weight == 0:
            return self._dual, self._heights
        return self._average / self._average_weight, self._average_heights / self._average_weight

    def _level_of_average(self):
        _, heights = self._direction()
        return water_level(heights, self._problem.weights, self._volume, self._basins)

    def _scale_and_intercept(self):
        if self._tuned:
            direction, heights = self._direction()
            return best_scale(
                heights,
                direction @ heights,
                self._problem.y,
                self._problem.weights,
                alpha=self._problem.alpha,
                fit_intercept=self._problem.fit_intercept,
            )
        level = self._level_of_average()
        return (1.0, level.b) if level.gamma <= 0 else (1.0 / level.gamma, level.b / level.gamma)

    def _start_from(self, initial):
        keys = ("dual", "responses", "average", "average_responses", "scalars", "streams")
        state = require_state(initial, self._problem.n, keys)
        self.n_iter = initial.n_iter
        if state is not None:
            self._dual, self._heights = state["dual"], state["responses"]
            self._average, self._average_heights = state["average"], state["average_responses"]
            self._squared_norm, self._average_weight, volume = state["scalars"].tolist()
            if self._tuned:
                self._volume = volume
            seed, *positions = state["streams"].astype(int).tolist()
            self._streams = open_streams(seed, positions)
            return
        y = self._problem.y
        dual = np.maximum(0.0, y * initial.coef)
        heights = y * self._problem.rows.matvec(y * dual)
        norm = np.sqrt(max(0.0, dual @ heights))
        if norm > 0:
            self._dual, self._heights, self._squared_norm = dual / norm, heights / norm, 1.0
            if self._tuned:
                self._retune()
