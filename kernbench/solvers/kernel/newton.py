"""Newton's method for kernel regression with a smooth loss, by Cholesky factors.

With the squared error the minimiser f = sum_j coef_j k(x_j, .) solves the normal equations of kernel ridge regression,

    (K + alpha n diag(1 / w)) coef = y,

by one Cholesky factor. The Huber loss is quadratic for the residuals |r_i| < delta, the set A, and linear for the
others, B, whose coefficients follow from the slope: coef_i = -w_i l'(r_i) / (alpha n). Given A and B a Newton step ends
at the solution of

    (K_AA + alpha n diag(1 / w_A)) coef_A = y_A - K_AB coef_B

(Chapelle 2007 for classifiers). It is halved until it lowers the objective. When A stays the same the step is exact,
so that the method ends after a few. Rows of weight 0 have the coefficient 0.

The duality gap is the certificate. Where rounding makes the matrix indefinite its diagonal is raised slightly; the
right-hand side is a residual, so that the next step corrects the error.
"""

from types import SimpleNamespace

import numpy as np

from kernbench.losses.regression import example_loss
from kernbench.losses.table import losses_of
from kernbench.problems.kernel.newton import PROGRESS, SHORTEST
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.method import Method


class Newton(Method):
    """Newton's method for alpha/2 ||f||^2 + (1/n) sum_i w_i l(f(x_i) - y_i), l the squared error or the Huber loss.

    The kernel matrix is computed once, in float64. Solvers on the same `MatrixRows` share it and the last factor: those
    of several outputs, or of a path.

    Parameters
    ----------
    rows, y, alpha, weights : see `MarginProblem`; y are targets
    fit_intercept : bool, default=False
        False: f has no intercept.
    loss : str or ResidualLoss, default="squared_error"
        One of `losses`.
    tol : float, default=1e-3
        Converged when the duality gap is at most `tol` times the objective.
    random_state : ignored
        There is no randomness.
    initial : Solution, optional
        Coefficients to start from.
    core : {"compiled", "reference"}, default="compiled"
    """

    losses = losses_of("residual", smooth=True, flat=False)
    first_check = None
    is_interruptible = True

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=False, loss="squared_error", tol=1e-3,
                 random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core)
        example_loss(loss, self.losses)
        self.tol = require_number("tol", tol, positive=True)
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        problem = self.problem
        self.K, self.coef, self.f = None, np.zeros(problem.n), np.zeros(problem.n)
        self.shared = getattr(rows, "shared", {})
        self.lowered = True  # whether the last step lowered the objective
        if initial is not None:
            require_state(initial, problem.n, [])
            self.n_iter = initial.n_iter
            self.coef = np.where(problem.weights > 0, initial.coef, 0.0)

    @property
    def n_kernel_evaluations(self):
        """Those of the rows, which solvers share."""
        return self.problem.rows.n_evaluations

    n_inner_products = n_kernel_evaluations

    def _compute_matrix(self):
        if self.K is None:
            if "matrix" not in self.shared:
                everything = np.arange(self.problem.n)
                self.shared["matrix"] = np.asarray(self.problem.rows.block(everything, everything), dtype=np.float64)
            self.K = self.shared["matrix"]
            self.f = self.K @ self.coef

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once converged or the objective no longer falls."""
        self._compute_matrix()
        done = 0
        while done < n_iter and self.lowered and not self.converged:
            self.lowered = self._step()
            self.n_iter += 1
            done += 1
            self.check(self.tol)
        return done

    def _step(self):
        """Take a Newton step, shortened until it lowers the objective; return whether there was one."""
        step = self.core.newton_step(self.problem, self.K, self.coef, self.f, self.shared)
        moved, last, t = self.K @ step, self.objective(), 1.0
        while t > SHORTEST:
            coef, f = self.coef + t * step, self.f + t * moved
            change, rounding = self._objective_at(coef, f) - last, PROGRESS * abs(last)
            if change <= rounding:  # of functions that are the same, the last one has the better certificate
                self.coef, self.f = coef, f
                return change < -rounding
            t *= 0.5
        return False

    def solution(self):
        """The coefficients as of now."""
        return Solution(self.coef.copy(), 0.0, self.n_iter)

    def objective(self):
        """The objective as of now."""
        self._compute_matrix()
        return self._objective_at(self.coef, self.f)

    def _objective_at(self, coef, f):
        return self.problem.objective(f, coef @ f, 0.0)

    def gap(self):
        """The objective minus a lower bound on the optimum."""
        self._compute_matrix()
        return self.problem.gap(self.coef, self.f, 0.0, SimpleNamespace(matvec=lambda v: self.K @ v))
