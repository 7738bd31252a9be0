"""Stochastic gradient descent on the mean loss within a ball, several draws at a time (see `_online`).

f = B v with ||v|| <= 1. Within a walk v is not scaled, and `scale` is the factor of all projections so far; the average
of the iterates costs one more pass over the rows of the steps, at the end of the walk.
"""

from libc.math cimport fmax, sqrt

from kernbench.losses._loss cimport loss_room
from kernbench.losses._margin cimport KB_SQUARED_HINGE, margin_slope
from kernbench.solvers.kernel.online._intercept cimport InterceptFinder
from kernbench.solvers.kernel.online._online cimport BATCH, OnlineSolver

import numpy as np

from kernbench.problems.kernel.expansion import ball_radius
from kernbench.losses.margin import Hinge
from kernbench.problems.margin_problem import require_number, require_state
from kernbench.problems.slack_budget import next_retune
from kernbench.solvers.base import Solution
from kernbench.problems.draws import draw_indices

STATE = ("steps", "responses", "step_sums", "response_sums", "scalars")


cdef class NormBallSGD(OnlineSolver):
    """SGD on the mean loss within ||f|| <= B, reported in alpha/2 ||f||^2 + (1/n) sum_i w_i l(y_i (f(x_i) + b)).

    The two problems have the same minimiser if B is its norm, so without a radius B is adapted to the best multiple of
    the average (see the reference).

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
    weights : array-like of shape (n,), optional
        Example i is drawn with probability w_i / sum w.
    fit_intercept : bool, default=True
        The bias is set to its exact minimiser every 256 steps.
    loss : {"hinge", "squared_hinge", "log_loss"}, default="hinge"
    radius : float, optional
        B, fixed, as in the paper's problem; the average is reported unscaled. By default B follows from alpha, and the
        best multiple of the average is reported.
    average_power : float, optional
        The iterate after step t has weight (t/1000)^average_power in the average; 0 with `radius`, else 2, by default.
    random_state : None, int, RandomState or Generator
        One uniform number per step.
    initial : Solution, optional
        Continue a solution of this solver exactly, or use other coefficients as a warm start.

    References
    ----------
    Zinkevich, ICML 2003; Zhang, ICML 2004; Cotter, Shalev-Shwartz, Srebro, ICML 2012.
    """

    cdef InterceptFinder finder
    cdef double radius, power, r, squared_norm, sum_of_weights, intercept
    cdef long long next_retune
    cdef bint tuned
    cdef double[::1] steps, responses, step_sums, response_sums

    dual_point = "scaled"

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", radius=None,
                 average_power=None, random_state=None, initial=None):
        OnlineSolver.__init__(
            self, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
            random_state=random_state,
        )
        problem = self.problem
        self.tuned = radius is None
        self.radius = ball_radius(problem) if radius is None else require_number("radius", radius, positive=True)
        if average_power is None:
            average_power = 2.0 if self.tuned else 0.0
        self.power = require_number("average_power", average_power)
        self.r = np.max(self.diagonal) ** 0.5 or 1.0
        if problem.fit_intercept and problem.loss is Hinge:
            self.finder = InterceptFinder(problem.y, problem.weights)
        self.steps, self.responses = np.zeros(problem.n), np.zeros(problem.n)
        self.step_sums, self.response_sums = np.zeros(problem.n), np.zeros(problem.n)
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
            self._follow(draw_indices(self.rng, length, self.problem.n, self.cumulative))
            done += length
            if self.tuned and self.n_iter == self.next_retune:
                self.radius = self._expansion().norm or self.radius
                self.next_retune = next_retune(self.n_iter)
            if self.n_iter % BATCH == 0:
                self._refresh()
        return done

    cdef Py_ssize_t _steps_on(self, const Py_ssize_t *drawn, Py_ssize_t length) except -1:
        cdef:
            Py_ssize_t k, i, n_done
            double push, step, response, shrink, weight, scale = 1.0, passed = 0.0
        walk = self.walk
        with nogil:
            n_done = walk.open(drawn, length, &self.responses[0])
            for k in range(n_done):
                walk.want(k, loss_room(self.loss, 0.0, self._margin(drawn[k], walk.local[k])))
            walk.fetch()
            for k in range(n_done):
                i, response = drawn[k], scale * walk.local[k]
                push = self._push(i, response)
                if push != 0.0 and not walk.has(k):
                    n_done = k
                    break
                self.n_iter += 1
                if push != 0.0:
                    step = push / (self.r * sqrt(<double> self.n_iter))
                    self.squared_norm += step * (2.0 * self.y[i] * response + step * self.diagonal[i])
                    self.steps[i] += step / scale
                    walk.add(k, self.y[i] * step / scale, passed)
                if self.squared_norm > 1.0:
                    shrink = 1.0 / sqrt(self.squared_norm)
                    self.squared_norm = 1.0
                    scale *= shrink
                weight = (<double> self.n_iter / 1000.0) ** self.power
                self.sum_of_weights += weight
                passed += weight * scale
                if scale < 1e-2:  # the sums would lose digits: contributions of later steps are subtracted
                    n_done = k + 1
                    break
            walk.close(n_done, &self.responses[0])
            walk.add_sums(passed, &self.y[0], &self.steps[0], &self.step_sums[0], &self.responses[0],
                          &self.response_sums[0])
            if scale != 1.0:
                for i in range(walk.n):
                    self.steps[i] *= scale
                    self.responses[i] *= scale
        return n_done

    cdef inline double _push(self, Py_ssize_t i, double response) noexcept nogil:
        """The size of the step on example i, in units of eta_t / r."""
        cdef double push = -margin_slope(self.loss, self._margin(i, response))
        if self.loss == KB_SQUARED_HINGE:  # no step goes beyond margin 1
            push /= 2.0 * fmax(1.0, self.radius * self.r / sqrt(<double> self.n_iter + 1.0))
        return push

    cdef inline double _margin(self, Py_ssize_t i, double response) noexcept nogil:
        return self.y[i] * (self.radius * response + self.intercept)

    def _refresh(self):
        """Compute the exact intercept, and recompute ||v||^2 to remove its rounding errors."""
        responses = np.asarray(self.responses)
        self.squared_norm = (self.problem.y * np.asarray(self.steps)) @ responses
        if self.finder is not None:
            self.intercept = self.finder.find(self.radius * responses)
        else:
            self.intercept = self.problem.best_intercept(self.radius * responses)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _expansion(self):
        """B times the average; before the first step, B times v."""
        steps, responses, share = np.asarray(self.steps), np.asarray(self.responses), self.radius
        if self.sum_of_weights > 0:
            steps, responses = np.asarray(self.step_sums), np.asarray(self.response_sums)
            share = self.radius / self.sum_of_weights
        return self._expanded(share * self.problem.y * steps, share * responses, self.tuned)

    def solution(self):
        """The average, unscaled or with the best multiple, with the best intercept."""
        found = self._found()
        state = {
            "steps": np.array(self.steps),
            "responses": np.array(self.responses),
            "step_sums": np.array(self.step_sums),
            "response_sums": np.array(self.response_sums),
            "scalars": np.array([self.squared_norm, self.sum_of_weights, self.intercept, self.radius]),
        }
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        y = self.problem.y
        state = require_state(initial, self.problem.n, STATE)
        self.n_iter = initial.n_iter
        if state is not None:
            self.steps, self.responses, self.step_sums, self.response_sums = (state[k] for k in STATE[:4])
            self.squared_norm, self.sum_of_weights, self.intercept, radius = state["scalars"]
            self.radius = radius if self.tuned else self.radius
            return
        coef = np.where(y * initial.coef > 0, initial.coef, 0.0)
        responses = self.rows.matvec(coef)
        norm = max(0.0, coef @ responses) ** 0.5
        if self.tuned and norm > 0:
            self.radius = norm
        shrink = 1.0 / max(norm, self.radius)
        self.steps, self.responses = shrink * y * coef, shrink * responses
        self.squared_norm = (norm * shrink) ** 2
        self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0
