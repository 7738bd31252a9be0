"""Stochastic gradient descent on the mean loss within a ball, kernelised (Zinkevich 2003; Zhang 2004).

Cotter, Shalev-Shwartz, Srebro, ICML 2012, use it as "SGD on L": min L(f) subject to ||f|| <= B. Here f = B v with
||v|| <= 1, so that B enters the margins only: a step on example i adds eta_t y_i k(x_i, .) / r to v,
eta_t = 1/sqrt(t), if y_i (B v(x_i) + b) < 1, and v is scaled back into the unit ball. The average of the iterates is
returned.
"""

import numpy as np

from kernbench.problems.kernel.expansion import ball_radius
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.slack_budget import next_retune
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.online.online import BATCH, OnlineSolver

STATE = ("steps", "responses", "step_sums", "response_sums", "scalars")


class NormBallSGD(OnlineSolver):
    """SGD on the mean loss within the ball ||f|| <= B.

    Reported in the objective alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)) of all solvers. The two problems
    have the same minimiser f* when B = ||f*||. So without a radius B starts as one that contains f* and is reset after
    steps 32, 40, 50, … (a quarter more each time) to the norm of the best multiple of the average: below ||f*|| that
    multiple is greater than 1, above it less.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
        A step is -l'(m) eta_t / r with r^2 = max k(x_i, x_i), eta_t = 1/sqrt(t); for the squared hinge, whose slope has
        no bound, divided by 2 max(1, B r / sqrt(t)).
    radius : float, optional
        B, > 0, fixed, as in the paper's problem; the average is reported unscaled, with the best intercept. By default
        B follows from alpha, and the best multiple of the average is reported.
    average_power : float, optional
        The iterate after step t enters the average with weight (t/1000)^average_power. By default 0 with `radius` (the
        paper's average) and 2 without, which discounts the iterates of the first radii.
    """

    dual_point = "scaled"

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", radius=None,
                 average_power=None, random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(
            core, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state,
        )  # fmt: skip
        problem = self.problem
        self.tuned = radius is None
        self.radius = ball_radius(problem) if radius is None else require_number("radius", radius, positive=True)
        if average_power is None:
            average_power = 2.0 if self.tuned else 0.0
        self.power = require_number("average_power", average_power)
        self.r = max(0.0, self.largest) ** 0.5 or 1.0  # negative if the kernel is indefinite
        # v = sum_i steps_i y_i k(x_i, .), and v(x_i); the sums of both after each step, by their weights in the average
        self.steps, self.responses, self.step_sums, self.response_sums = np.zeros((4, problem.n))
        self.numbers = np.zeros(3)  # steps; ||v||^2; the sum of the weights
        self.find_intercept = self.core.intercept_search(problem)
        if initial is not None:
            self._start_from(initial)
        self.next_retune = next_retune(self.n_iter)

    def advance(self, n_iter):
        """Do `n_iter` steps; return `n_iter`."""
        done = 0
        while done < n_iter:
            length = min(n_iter - done, BATCH - self.n_iter % BATCH)
            if self.tuned:
                length = min(length, self.next_retune - self.n_iter)
            self.core.steps(
                self.walk, self._draw(length), self.loss, self.y, self.diagonal, self.radius, self.r, self.power,
                self.intercept, self.steps, self.responses, self.step_sums, self.response_sums, self.numbers,
            )  # fmt: skip
            done += length
            if self.tuned and self.n_iter == self.next_retune:
                self.radius = self._expansion().norm or self.radius
                self.next_retune = next_retune(self.n_iter)
            if self.n_iter % BATCH == 0:
                self.numbers[1] = (self.y * self.steps) @ self.responses  # removes rounding errors
                self.intercept = self.find_intercept(self.radius * self.responses)
        return done

    def _expansion(self):
        """B times the average; before the first step, B times v."""
        steps, responses, share = self.steps, self.responses, self.radius
        if self.numbers[2] > 0:
            steps, responses, share = self.step_sums, self.response_sums, self.radius / self.numbers[2]
        return self._expanded(share * self.y * steps, share * responses, self.tuned)

    def solution(self):
        """The average, unscaled or with the best multiple, with the best intercept."""
        found = self._found()
        scalars = np.array([*self.numbers[1:], self.intercept, self.radius])
        arrays = self.steps, self.responses, self.step_sums, self.response_sums, scalars
        state = {name: values.copy() for name, values in zip(STATE, arrays)}
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        y = self.y
        state = require_state(initial, self.problem.n, STATE)
        self.numbers[0] = initial.n_iter
        if state is not None:
            self.steps, self.responses, self.step_sums, self.response_sums = (state[k] for k in STATE[:4])
            *self.numbers[1:], self.intercept, radius = state["scalars"]
            self.radius = radius if self.tuned else self.radius
            return
        coef = np.where(y * initial.coef > 0, initial.coef, 0.0)
        responses = self.rows.matvec(coef)
        norm = max(0.0, coef @ responses) ** 0.5
        if self.tuned and norm > 0:
            self.radius = norm
        shrink = 1.0 / max(norm, self.radius)
        self.steps, self.responses = shrink * y * coef, shrink * responses
        self.numbers[1] = (norm * shrink) ** 2
        self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0
