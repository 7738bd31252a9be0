"""The Parzen classifier: the minimiser of the regularised hinge when regularisation is strong, in one pass.

Stationarity of alpha/2 ||f||^2 + (1/n) sum_i w_i max(0, 1 - y_i f(x_i)) reads alpha f = (1/n) sum_i w_i a_i
y_i k(x_i, .) with a_i = 1 where the margin is below 1. If f with all a_i = 1 has no margin above 1, it is the
minimiser.
"""

import numpy as np

from kernbench.losses.margin import margin_loss
from kernbench.problems.kernel.parzen import middle_intercept, require_possible, smallest_alpha
from kernbench.problems.margin_problem import MarginProblem, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method


class ClosedForm(Method):
    """f = 1/(alpha n) sum_i w_i y_i k(x_i, .), the minimiser if no margin y_i f(x_i) exceeds 1.

    One iteration is the product of the kernel matrix with w y, tile by tile; the matrix is never stored.
    Where the condition fails the same function is returned, with a gap that bounds its distance to the optimum, and
    `converged` stays False unless that gap is within the tolerance.

    Parameters
    ----------
    rows, y, alpha, weights : see `MarginProblem`; `problems.kernel.parzen` says how large `alpha` must be
    fit_intercept : bool, default=False
        True only if both classes have the same total weight: otherwise no alpha makes this the minimiser.
    loss : {"hinge"}, default="hinge"
    random_state : ignored
        There is no randomness.
    initial : Solution, optional
        Only its ``n_iter`` is used.
    core : {"compiled", "reference"}, default="compiled"

    Attributes
    ----------
    smallest_alpha : float
        Smallest alpha at which the condition holds; known after the iteration.
    """

    losses = ("hinge",)
    is_interruptible = True

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=False, loss="hinge", random_state=None,
                 initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        margin_loss(loss, offered=self.losses)
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if self.problem.alpha is None:
            raise ValueError("the closed form needs alpha, a positive number")
        if fit_intercept:
            require_possible(self.problem.y, self.problem.weights)
        self.smallest_alpha = None
        self._coef, self._f = np.zeros(self.problem.n), np.zeros(self.problem.n)
        if initial is not None:
            require_state(initial, self.problem.n, [])
            self.n_iter = initial.n_iter

    @property
    def n_kernel_evaluations(self):
        """Those of the rows, which solvers share."""
        return self.problem.rows.n_evaluations

    n_inner_products = n_kernel_evaluations

    def advance(self, n_iter):
        """Do the only iteration; return 1, or 0 if it was done before."""
        if self.smallest_alpha is not None or n_iter < 1:
            return 0
        problem = self.problem
        sums = self.core.parzen_sums(problem.rows, problem.weights * problem.y)
        self.smallest_alpha = smallest_alpha(sums, problem.y, problem.weights, fit_intercept=problem.fit_intercept)
        self._f = sums / (problem.alpha * problem.n)
        self._coef = problem.weights * problem.y / (problem.alpha * problem.n)
        self.n_iter += 1
        return 1

    def solution(self):
        """The coefficients, zero before the iteration, and the best intercept for them."""
        return Solution(self._coef.copy(), self._intercept(), self.n_iter)

    def objective(self):
        """The regularised hinge objective of `solution`."""
        return self.problem.objective(self._f, self._coef @ self._f, self._intercept())

    def gap(self):
        """The objective of `solution` minus a lower bound on the optimum."""
        return self.problem.gap(self._coef, self._f, self._intercept())

    def _intercept(self):
        problem = self.problem
        if problem.fit_intercept and self.smallest_alpha is not None and problem.alpha >= self.smallest_alpha:
            return middle_intercept(self._f, problem.y, problem.weights)
        return problem.best_intercept(self._f)
