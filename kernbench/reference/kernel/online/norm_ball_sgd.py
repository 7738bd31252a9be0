"""Stochastic gradient descent on the mean loss within a ball, kernelised (Zinkevich 2003; Zhang 2004).

Cotter, Shalev-Shwartz, Srebro, ICML 2012, use it as "SGD on L": min L(f) subject to ||f|| <= B. Here f = B v
with ||v|| <= 1, so that B enters the margins only: a step on example i adds eta_t y_i k(x_i, .) / r to v,
eta_t = 1/sqrt(t), if y_i (B v(x_i) + b) < 1, and v is scaled back into the unit ball. The average of the
iterates is returned.
"""

import numpy as np

from kernbench.problems.draws import as_generator, cumulative_weights, draw_indices
from kernbench.problems.kernel.expansion import ball_radius
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.slack_budget import next_retune
from kernbench.reference.kernel.online.online import BATCH, OnlineSolver
from kernbench.solvers.base import Solution

STATE = ("steps", "responses", "step_sums", "response_sums", "scalars")


class NormBallSGD(OnlineSolver):
    """SGD on the mean loss within the ball ||f|| <= B.

    Reported in the objective alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)) of all solvers.
    The two problems have the same minimiser f* when B = ||f*||. So without a radius B starts as one that contains f*
    and is reset after steps 32, 40, 50, ... (a quarter more each time) to the norm of the best multiple of the average:
    below ||f*|| that multiple is greater than 1, above it less.

    Parameters
    ----------
    rows : KernelRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
        Ones by default; example i is drawn with probability w_i / sum w.
    fit_intercept : bool, default=True
        Set b to its exact minimiser after every 256th step; it is frozen in between.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        A step is -l'(m) eta_t / r with r^2 = max k(x_i, x_i), eta_t = 1/sqrt(t); for the squared hinge, whose
        slope has no bound, divided by 2 max(1, B r / sqrt(t)).
    radius : float, optional
        B, > 0, fixed, as in the paper's problem; the average is reported unscaled, with the best intercept. By default
        B follows from alpha, and the best multiple of the average is reported.
    average_power : float, optional
        The iterate after step t enters the average with weight (t/1000)^average_power. By default 0 with
        `radius` (the paper's average) and 2 without, which discounts the iterates of the first radii.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Where to start. With the state of a run of this solver that run is continued; otherwise ``coef`` is a warm
        start, as if reached by ``n_iter`` steps.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    dual_point = "scaled"

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", radius=None,
                 average_power=None, random_state=None, initial=None):  # fmt: skip
        super().__init__(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        n = self._problem.n
        self._tuned = radius is None
        self._radius = ball_radius(self._problem)
        if not self._tuned:
            self._radius = require_number("radius", radius, positive=True)
        if average_power is None:
            average_power = 2.0 if self._tuned else 0.0
        self._power = require_number("average_power", average_power)
        self._rng = as_generator(random_state)
        self._cumulative = cumulative_weights(self._problem.weights)
        self._r = float(np.sqrt(self._diagonal.max())) or 1.0

        self._steps = np.zeros(n)  # v = sum_i steps_i y_i k(x_i, .)
        self._responses = np.zeros(n)  # v(x_i)
        self._squared_norm = 0.0  # ||v||^2
        self._step_sums = np.zeros(n)  # of the iterates after each step, by their weights in the average
        self._response_sums = np.zeros(n)
        self._sum_of_weights = 0.0
        self._intercept = 0.0
        if initial is not None:
            self._start_from(initial)
        self._next_retune = next_retune(self.n_iter)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        for i in draw_indices(self._rng, n_iter, self._problem.n, self._cumulative):
            self._step(i)
        return n_iter

    def solution(self):
        """Return the average, as it is or with the best multiple, with the best intercept."""
        found = self._expansion()
        state = {
            "steps": self._steps.copy(),
            "responses": self._responses.copy(),
            "step_sums": self._step_sums.copy(),
            "response_sums": self._response_sums.copy(),
            "scalars": np.array([self._squared_norm, self._sum_of_weights, self._intercept, self._radius]),
        }
        return Solution(found.coef, found.intercept, self.n_iter, state)

    def _step(self, i):
        y_i, response = self._y[i], self._responses[i]
        push = self._push(y_i * (self._radius * response + self._intercept)) / self._slope_unit()
        self.n_iter += 1
        if push != 0.0:
            step = push / (self._r * np.sqrt(self.n_iter))
            self._squared_norm += 2 * step * y_i * response + step**2 * self._diagonal[i]
            self._steps[i] += step
            self._responses += step * y_i * self._row(i)
        if self._squared_norm > 1.0:
            shrink = 1.0 / np.sqrt(self._squared_norm)
            self._steps *= shrink
            self._responses *= shrink
            self._squared_norm = 1.0
        weight = (self.n_iter / 1000) ** self._power
        self._step_sums += weight * self._steps
        self._response_sums += weight * self._responses
        self._sum_of_weights += weight
        if self._tuned and self.n_iter == self._next_retune:
            self._radius = self._expansion().norm or self._radius
            self._next_retune = next_retune(self.n_iter)
        if self.n_iter % BATCH == 0:
            self._squared_norm = float((self._y * self._steps) @ self._responses)  # removes rounding errors
            self._intercept = self._problem.best_intercept(self._radius * self._responses)

    def _slope_unit(self):
        """The divisor of the slope; for the squared hinge, such that no step goes beyond margin 1."""
        if self._loss.name != "squared_hinge":
            return 1.0
        return 2.0 * max(1.0, self._radius * self._r / np.sqrt(self.n_iter + 1))

    def _expansion(self):
        """B times the average; before the first step, B times v."""
        steps, responses, share = self._steps, self._responses, self._radius
        if self._sum_of_weights > 0:
            steps, responses = self._step_sums, self._response_sums
            share = self._radius / self._sum_of_weights
        return self._expanded(share * self._y * steps, share * responses, rescale=self._tuned)

    def _start_from(self, initial):
        state = require_state(initial, self._problem.n, STATE)
        self.n_iter = initial.n_iter
        if state is not None:
            self._steps, self._responses, self._step_sums, self._response_sums = (state[k] for k in STATE[:4])
            self._squared_norm, self._sum_of_weights, self._intercept, radius = state["scalars"]
            self._radius = float(radius) if self._tuned else self._radius
            return
        coef = np.where(self._y * initial.coef > 0, initial.coef, 0.0)
        responses = self._problem.rows.matvec(coef)
        norm = float(np.sqrt(max(0.0, coef @ responses)))
        if self._tuned and norm > 0:
            self._radius = norm
        shrink = 1.0 / max(norm, self._radius)
        self._steps, self._responses = shrink * self._y * coef, shrink * responses
        self._squared_norm = (norm * shrink) ** 2
        self._intercept = float(initial.intercept) if self._problem.fit_intercept else 0.0
