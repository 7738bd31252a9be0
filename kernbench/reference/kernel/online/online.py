"""What the online methods of the kernel SVM share: a checked problem, and how a direction is reported.

Each of them keeps the responses f(x_i) of all examples and needs one kernel row when a step changes f.
"""

import numpy as np

from kernbench.losses.regression import example_loss
from kernbench.problems.kernel.expansion import Expansion
from kernbench.problems.margin_problem import MarginProblem

BATCH = 256  # steps between two updates of an intercept that is set to its best value


class OnlineSolver:
    """State and results common to Pegasos, norm-ball SGD, the Perceptron and NORMA.

    A method defines `advance`, `solution`, and ``_expansion()``: what it has found, with the best multiple
    and intercept.
    """

    losses = ("hinge", "squared_hinge", "log_loss")
    granularity = BATCH
    finished = False
    dual_point = "plain"  # see `Expansion.gap`

    def __init__(self, rows, y, *, alpha, weights, fit_intercept, loss):
        example_loss(loss, offered=self.losses)
        problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        if problem.alpha is None:
            raise ValueError(f"{type(self).__name__} needs alpha, a positive number")
        self._problem, self._y, self._loss = problem, problem.y, problem.loss
        self._lambda = problem.alpha * problem.n / problem.total_weight
        self._diagonal = rows.diagonal()
        self.n_iter = 0
        self.n_kernel_evaluations = 0
        self.converged = False
        self._bound = 0.0  # the best lower bound on the optimum so far
        self.first_check = -(-problem.n // BATCH) * BATCH

    @property
    def n_inner_products(self):
        return self.n_kernel_evaluations

    @property
    def n_logical_evaluations(self):
        """Evaluations of the method as published; the compiled twin fetches rows in advance and caches them."""
        return self.n_kernel_evaluations

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * max(self.objective(), np.finfo(float).tiny))
        return self.converged

    def objective(self):
        """Return the regularised objective of `solution`."""
        return self._expansion().objective()

    def gap(self):
        """Return the objective of `solution` minus a lower bound on the optimum."""
        found = self._expansion()
        gap = found.gap(self.dual_point)
        self._bound = max(self._bound, found.objective() - gap)
        return gap

    def known_gap(self):
        """Return the objective of `solution` minus the best lower bound that `gap` has found so far, 0 before."""
        return max(0.0, self.objective() - self._bound)

    def _row(self, i):
        self.n_kernel_evaluations += self._problem.n
        return np.asarray(self._problem.rows.row(i), dtype=np.float64)

    def _push(self, margin):
        """Return -l'(margin) as a float."""
        return -float(self._loss.slope(margin))

    def _expanded(self, coef, responses, rescale=True):
        return Expansion(self._problem, coef, responses, rescale=rescale)
