"""Wolfe's method of conjugate subgradients on all rows.

P. Wolfe, "A method of conjugate subgradients for minimizing nondifferentiable functions", Math. Prog. Study 3 (1975)
145-173. An iteration, with a in [0, 1]^n minus the slopes of the losses (see `active_part` of the reference):

    g  <-  alpha f - (1/n) sum_i w_i y_i a_i k(x_i, .)          a subgradient ahead of f
    d  <-  minus the shortest vector in the hull of -d and the newest subgradients
    f  <-  f + t d,   t by a search along d with the best intercept at each point

If d is short, the next iteration restarts from its subgradient; if that is short too, f is optimal up to `eps`.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.conjugate import RECOMPUTED, certified_gap, check_wolfe, settings_of
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.method import CostlyGap

STATE = ("direction", "part", "reset", "settings")


class Wolfe(CostlyGap):
    """Conjugate subgradients for alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    The direction is minus the shortest vector in the convex hull of the last direction (with its sign changed) and the
    newest subgradients; when it is short, the method restarts from the subgradient, and ends if that is short too.

    Parameters
    ----------
    rows, y, alpha, weights : see `MarginProblem`
    fit_intercept : bool, default=True
        b is the exact minimiser at every point of a search.
    loss : {"hinge"}, default="hinge"
    random_state : None, int, RandomState or Generator
        Not used: the method has no randomness.
    initial : Solution, optional
        Continue from a solution of this method, or from other coefficients. Only the direction of a bundle is kept, and
        only for the same `alpha`, `weights` and `fit_intercept`.
    geometry : {"rkhs", "euclidean"}, default="rkhs"
        Inner product of directions: that of the kernel's space, or that of coefficients, which needs a product with the
        whole kernel matrix in each iteration.
    line_search : {"exact", "bracket"}, default="exact"
        The minimiser along the direction, or a point with enough decrease and a flat slope.
    bundle_size : int, default=2
        Vectors whose hull is searched: minus the last direction, and ``bundle_size - 1`` subgradients. More of them
        make the direction shorter. Until the next restart some are those of far points, so that convergence may be
        slower than with 2, by far with 30: choose a larger `eps`.
    eps : float, default=1e-6
        Length of the direction at which the method restarts, and ends if the subgradient is as short. With 1e-6 it
        hardly ever restarts: on three sets of 60 rows, with 2 to 30 vectors, 600 iterations with 1e-3 left at most a
        ninth of its excess over the optimum at alpha = 0.01, and at alpha = 0.001 from a hundredth to one and a half
        times as much.
    c1, c2 : float, default=0.25, 0.4
        Decrease and flatness that the bracket search requires.
    core : {"compiled", "reference"}, default="compiled"

    References
    ----------
    P. Wolfe, "A method of conjugate subgradients for minimizing nondifferentiable functions", Math. Prog. Study 3
    (1975) 145-173.
    """

    losses = ("hinge",)
    first_check = 20
    is_interruptible = True

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", random_state=None,
                 initial=None, geometry="rkhs", line_search="exact", bundle_size=2, eps=1e-6, c1=0.25, c2=0.4,
                 core="compiled"):  # fmt: skip
        super().__init__(core)
        margin_loss(loss, offered=self.losses)
        check_wolfe(
            alpha=alpha, geometry=geometry, line_search=line_search, bundle_size=bundle_size, eps=eps, c1=c1, c2=c2
        )
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept)
        self.problem, self.rows, self.eps = problem, rows, eps
        self.is_exact, self.c1, self.c2 = line_search == "exact", c1, c2
        self.coef, self.direction, self.part = np.zeros((3, problem.n))  # part: the active part averaged as direction
        self.reset, self.stale = True, False  # stale: responses are due to be recomputed
        self.deadline = np.inf
        if initial is not None:
            self._start_from(initial)
        self.work = self.core.Work(
            rows, problem, geometry == "rkhs", bundle_size, self.coef, self.direction, self.part
        )  # fmt: skip
        if initial is not None:
            self._recompute()

    @property
    def n_kernel_evaluations(self):
        return self.rows.n_evaluations

    n_inner_products = n_kernel_evaluations

    def advance(self, n_iter):
        """Do `n_iter` iterations, or fewer if the stopping rule holds or time is up; return how many were done."""
        for done in range(n_iter):
            if self.converged or not self._iterate():
                return done
        return n_iter

    def stop_at(self, time):
        """Interrupt the current iteration from this value of `time.perf_counter` on; `advance` resumes it."""
        self.deadline = time

    def _iterate(self):
        """Do one iteration; return False if it was interrupted."""
        if self.stale and not self._recompute() or not self.core.add_subgradient(self.work, self.reset, self.deadline):
            return False
        length = self.core.shorten(self.work)
        self.n_iter += 1
        if length <= self.eps:
            self.converged = self.reset or self.core.newest_length(self.work) <= self.eps
            self.reset = True
            return True
        self.reset = False
        self.core.move(self.work, self.core.search(self.work, self.is_exact, length, self.c1, self.c2))
        if self.n_iter % RECOMPUTED == 0:
            self._recompute()
        return True

    def _recompute(self):
        """Recompute the responses, since recurrences accumulate rounding errors. False if time ran out; then it is
        still due."""
        self.stale = True
        self.stale = not self.core.recompute(self.work, self.deadline)
        return not self.stale

    # --- what it found -----------------------------------------------------------------------------------------------

    def objective(self):
        """The current objective."""
        return self.core.value(self.work)[0]

    def _find_gap(self):
        problem = self.problem
        averaged = problem.y * problem.weights * self.part / (problem.alpha * problem.n)
        return certified_gap(
            self.work.matvec, problem.y, problem.weights, problem.alpha, problem.fit_intercept, self.objective(),
            [self.coef.copy(), averaged],
        )  # fmt: skip

    def solution(self):
        """Coefficients and their best intercept."""
        _, intercept = self.core.value(self.work)
        arrays = self.direction.copy(), self.part.copy(), np.array([float(self.reset)]), self._settings()
        return Solution(self.coef.copy(), intercept, self.n_iter, dict(zip(STATE, arrays)))

    def _start_from(self, initial):
        state = require_state(initial, self.problem.n, STATE)
        self.n_iter, self.coef = initial.n_iter, np.array(initial.coef, dtype=np.float64)
        if state is not None and np.array_equal(state["settings"], self._settings()):
            self.direction, self.part, self.reset = state["direction"], state["part"], bool(state["reset"].item())

    def _settings(self):
        return settings_of(self.problem.alpha, self.problem.fit_intercept, self.problem.weights)
