"""A solver on a simulated clock, for tests of the loop around solvers."""

import numpy as np

from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method


class Clock:
    """A clock that is moved by hand."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Countdown(Method):
    """A solver whose objective is 1/(1 + n_iter); an iteration takes `cost` seconds, a check `check_cost`."""

    def __init__(self, clock, *, cost=1e-3, check_cost=0.0, granularity=1, first_check=None, n_iter=0, ends_at=None):
        self.clock, self.cost, self.check_cost = clock, cost, check_cost
        self.granularity, self.first_check, self.n_iter = granularity, first_check, n_iter
        self.ends_at = ends_at  # iteration from which on `check` is True
        self.converged, self.n_kernel_evaluations = False, 0
        self.steps, self.checks, self.n_objectives = [], [], 0

    def advance(self, n_iter):
        self.steps.append(n_iter)
        self.n_iter += n_iter
        self.n_kernel_evaluations += 10 * n_iter
        self.clock.now += n_iter * self.cost
        return n_iter

    def check(self, tol):
        self.checks.append((self.n_iter, tol))
        self.clock.now += self.check_cost
        self.converged = self.ends_at is not None and self.n_iter >= self.ends_at
        return self.converged

    def solution(self):
        return Solution(np.full(3, float(self.n_iter)), n_iter=self.n_iter)

    def objective(self):
        self.n_objectives += 1
        return 1 / (1 + self.n_iter)

    def gap(self):
        return 0.5 / (1 + self.n_iter)
