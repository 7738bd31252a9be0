"""The Parzen classifier in plain NumPy: all hinges active, so every dual variable is 1.

Stationarity of alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, 1 - y_i f(x_i)) reads alpha f = (1/n) sum_i w_i a_i
y_i k(x_i, .) with a_i = 1 where the margin is below 1. If f with all a_i = 1 has no margin above 1, it is the
minimiser.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.parzen import require_possible
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution

CHUNK = 256  # kernel rows held at a time


class ClosedForm:
    """f = 1/(alpha n) sum_i w_i y_i k(x_i, .), the minimiser if no margin y_i f(x_i) exceeds 1.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
    fit_intercept : bool, default=False
        True only for classes of equal total weight.
    loss : {"hinge"}, default="hinge"
    random_state : ignored
    initial : Solution, optional
        Only its ``n_iter`` is used.
    """

    losses = ("hinge",)
    granularity = 1
    first_check = 1

    def __init__(
        self, rows, y, *, alpha, weights=None, fit_intercept=False, loss="hinge", random_state=None, initial=None
    ):
        margin_loss(loss, offered=self.losses)
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if self.problem.alpha is None:
            raise ValueError("the closed form needs alpha, a positive number")
        if fit_intercept:
            require_possible(self.problem.y, self.problem.weights)
        self.rows = rows
        self.n_iter, self.n_kernel_evaluations, self.converged = 0, 0, False
        self.smallest_alpha = None
        self.f, self.coef = np.zeros(rows.n_rows), np.zeros(rows.n_rows)
        if initial is not None:
            require_state(initial, self.problem.n, [])
            self.n_iter = initial.n_iter

    @property
    def n_inner_products(self):
        return self.n_kernel_evaluations

    def advance(self, n_iter):
        """Do the only iteration; return 1, or 0 if it was done before."""
        if self.smallest_alpha is not None or n_iter < 1:
            return 0
        n, y, w, alpha = self.problem.n, self.problem.y, self.problem.weights, self.problem.alpha
        used = np.flatnonzero(w)
        for first in range(0, n, CHUNK):
            chunk = np.arange(first, min(n, first + CHUNK))
            self.f[chunk] = self.rows.block(chunk, used) @ (w * y)[used] / (alpha * n)
            self.n_kernel_evaluations += len(chunk) * len(used)
        self.coef = w * y / (alpha * n)
        # Margins scale with 1 / alpha: the alpha at which the largest is 1. An intercept can balance them.
        positive, negative = (w > 0) & (y > 0), (w > 0) & (y < 0)
        highest, lowest = self.f[positive].max(), self.f[negative].min()
        largest = 0.5 * (highest - lowest) if self.problem.fit_intercept else max(highest, -lowest)
        self.smallest_alpha = alpha * max(0.0, largest)
        self.middle = 0.5 * ((1 - highest) + (-1 - lowest))
        self.n_iter += 1
        return 1

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def solution(self):
        """Return the coefficients, zero before the iteration, and the best intercept for them."""
        return Solution(self.coef.copy(), self._intercept(), self.n_iter)

    def objective(self):
        """Return the regularised hinge objective of `solution`."""
        return self.problem.objective(self.f, self.coef @ self.f, self._intercept())

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        return self.problem.gap(self.coef, self.f, self._intercept())

    def _intercept(self):
        problem = self.problem
        if problem.fit_intercept and self.smallest_alpha is not None and problem.alpha >= self.smallest_alpha:
            return float(self.middle)
        return problem.best_intercept(self.f)
