"""Newton's method for kernel regression with a smooth loss, in plain NumPy.

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

import numpy as np

from kernbench.losses.regression import example_loss
from kernbench.losses.table import losses_of
from kernbench.problems.kernel.newton import NOT_DEFINITE, PROGRESS, RIDGES, SHORTEST
from kernbench.problems.margin_problem import MarginProblem, require_number, require_state
from kernbench.solvers.base import Diverged, Solution


class Newton:
    """Newton's method for alpha/2 ||f||^2 + (1/n) sum_i w_i l(f(x_i) - y_i), l the squared error or the Huber loss.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        Targets.
    alpha : float
        Regularisation, > 0.
    weights : array-like of shape (n,), optional
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
    """

    losses = losses_of("residual", smooth=True, flat=False)
    granularity = 1
    first_check = None

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=False, loss="squared_error", tol=1e-3,
                 random_state=None, initial=None):  # fmt: skip
        example_loss(loss, self.losses)
        self.tol = require_number("tol", tol, positive=True)
        self.rows = rows
        self.problem = MarginProblem(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        self.n_iter, self.n_kernel_evaluations, self.converged = 0, 0, False
        self.coef, self.K = np.zeros(self.problem.n), None
        self.lowered = True  # whether the last step lowered the objective
        if initial is not None:
            require_state(initial, self.problem.n, [])
            self.n_iter = initial.n_iter
            self.coef = np.where(self.problem.weights > 0, initial.coef, 0.0)

    @property
    def n_inner_products(self):
        """Kernel values so far."""
        return self.n_kernel_evaluations

    def advance(self, n_iter):
        """Take up to `n_iter` steps; return how many, fewer once converged or the objective does not fall any more."""
        done = 0
        while done < n_iter and self.lowered and not self.converged:
            self.lowered = self._step()
            self.n_iter += 1
            done += 1
            self.check(self.tol)
        return done

    def _matrix(self):
        if self.K is None:
            everything = np.arange(self.problem.n)
            self.K = np.asarray(self.rows.block(everything, everything), dtype=np.float64)
            self.n_kernel_evaluations = self.K.size
        return self.K

    def _step(self):
        problem, K = self.problem, self._matrix()
        used = problem.weights > 0
        shift = np.zeros(problem.n)
        shift[used] = problem.alpha * problem.n / problem.weights[used]
        residuals = K @ self.coef - problem.targets
        A = used & (np.abs(residuals) < problem.loss.upper)
        B = used & ~A
        step = np.zeros(problem.n)
        step[B] = -problem.loss.slope(residuals[B]) / shift[B] - self.coef[B]
        right = -residuals[A] - shift[A] * self.coef[A] - K[np.ix_(A, B)] @ step[B]
        step[A] = _solve_definite(K[np.ix_(A, A)], shift[A], right)
        last, t = self.objective(), 1.0
        while t > SHORTEST:
            change, rounding = self._objective_at(self.coef + t * step) - last, PROGRESS * abs(last)
            if change <= rounding:  # of functions that are the same, the last one has the better certificate
                self.coef = self.coef + t * step
                return change < -rounding
            t *= 0.5
        return False

    def check(self, tol):
        """Set `converged` to whether the duality gap is at most `tol` times the objective, and return it."""
        self.converged = bool(self.gap() <= tol * self.objective())
        return self.converged

    def solution(self):
        """The coefficients as of now."""
        return Solution(self.coef.copy(), 0.0, self.n_iter)

    def objective(self):
        """The objective as of now."""
        return self._objective_at(self.coef)

    def _objective_at(self, coef):
        f = self._matrix() @ coef
        return self.problem.objective(f, coef @ f, 0.0)

    def gap(self):
        """The objective minus a lower bound on the optimum."""
        f = self._matrix() @ self.coef
        return self.problem.gap(self.coef, f, 0.0)


def _solve_definite(K, shift, right):
    """Solve (K + diag(shift)) x = right by a Cholesky factor."""
    for ridge in RIDGES:
        try:
            factor = np.linalg.cholesky(K + np.diag(shift + ridge * np.trace(K) / max(1, len(K))))
        except np.linalg.LinAlgError:
            continue
        return np.linalg.solve(factor.T, np.linalg.solve(factor, right))
    raise Diverged(NOT_DEFINITE)
