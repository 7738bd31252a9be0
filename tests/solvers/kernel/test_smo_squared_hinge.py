"""SMO with the squared hinge against general solvers, LIBLINEAR, and itself from another start."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, minimize
from sklearn.svm import LinearSVC

from kernbench.kernels import Gaussian, Linear
from kernbench.kernels.rows import KernelRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.smo import SMO


def double_rows(X, kernel):
    return KernelRows(X, kernel, dtype=np.float64)


def squared_hinge_oracle(K, y, alpha, weights, fit_intercept):
    """The least objective over coefficients and intercept, by a general solver of the primal problem."""
    n = len(y)

    def value_and_slope(z):
        beta, b = z[:n], z[n] if fit_intercept else 0.0
        f = K @ beta
        room = np.maximum(0.0, 1 - y * (f + b))
        pull = -2 * weights * y * room / n
        slope = np.append(alpha * f + K @ pull, pull.sum() if fit_intercept else 0.0)
        return 0.5 * alpha * beta @ f + weights @ room**2 / n, slope

    options = {"gtol": 1e-10, "maxiter": 5000}
    return minimize(value_and_slope, np.zeros(n + 1), jac=True, method="BFGS", options=options).fun


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("options", [{}, {"classic_rows": 0, "working_set_size": 8}])
def test_squared_hinge_with_weights_is_that_of_a_general_solver(overlapping, fit_intercept, options):
    X, y = overlapping[0][:40], overlapping[1][:40]
    weights = np.random.default_rng(0).uniform(0.3, 3.0, size=40)
    weights[5] = 0.0
    rows = double_rows(X, Gaussian(2.0))
    solver = SMO(rows, y, alpha=0.02, weights=weights, fit_intercept=fit_intercept, loss="squared_hinge", tol=1e-7,
                 **options)  # fmt: skip
    result = driver.run(solver)
    assert result.converged and result.solution.coef[5] == 0.0
    expected = squared_hinge_oracle(Gaussian(2.0)(X), y, 0.02, weights, fit_intercept)
    assert result.objective == pytest.approx(expected, rel=1e-6)
    assert 0 <= result.gap <= 1e-5 * expected


def test_squared_hinge_dual_is_that_of_a_quadratic_program(overlapping):
    """min 1/2 b' (K + R) b - y' b over b_i y_i >= 0, sum b = 0; R_ii = alpha n / (2 w_i)."""
    X, y = overlapping[0][:25], overlapping[1][:25]
    n, alpha, weights = 25, 0.05, np.linspace(0.5, 2.0, 25)
    Q = Gaussian(2.0)(X) + np.diag(0.5 * alpha * n / weights)
    side = np.where(y > 0, np.inf, 0.0)
    found = minimize(
        lambda b: (0.5 * b @ Q @ b - y @ b, Q @ b - y), np.zeros(n), jac=True, hess=lambda b: Q, method="trust-constr",
        bounds=Bounds(-np.where(y < 0, np.inf, 0.0), side), constraints=LinearConstraint(np.ones(n), 0.0, 0.0),
        options={"gtol": 1e-11, "xtol": 1e-13, "maxiter": 3000},
    )  # fmt: skip
    solver = SMO(double_rows(X, Gaussian(2.0)), y, alpha=alpha, weights=weights, loss="squared_hinge", tol=1e-9)
    result = driver.run(solver)
    assert solver.dual_objective() == pytest.approx(-alpha * found.fun, rel=1e-7)
    np.testing.assert_allclose(result.solution.coef, found.x, atol=1e-4)


def test_squared_hinge_is_that_of_liblinear(overlapping):
    X, y = overlapping
    n, C = len(y), 0.3
    peer = LinearSVC(loss="squared_hinge", C=C, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, y)
    solver = SMO(double_rows(X, Linear()), y, alpha=1 / (C * n), loss="squared_hinge", fit_intercept=False, tol=1e-7,
                 classic_rows=0, working_set_size=128)  # fmt: skip
    result = driver.run(solver)
    np.testing.assert_allclose(result.solution.coef @ X, peer.coef_[0], atol=1e-5)


def test_squared_hinge_goes_on_from_a_solution(overlapping):
    X, y = overlapping
    build = {"alpha": 1e-3, "loss": "squared_hinge", "tol": 1e-5, "classic_rows": 0}
    cold = driver.run(SMO(double_rows(X, Gaussian(2.0)), y, **build))
    again = SMO(double_rows(X, Gaussian(2.0)), y, initial=Solution(cold.solution.coef), **build)
    warm = driver.run(again)
    assert warm.converged and warm.n_iter <= 0.1 * cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)
