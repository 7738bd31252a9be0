"""SMO: the sheet's worked numbers, an independent optimum, shrinking, caches, and an honest end."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from kernbench.kernels import Callable, Gaussian, Linear, Precomputed
from kernbench.kernels.rows import KernelRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel._smo import SMO


def double_rows(X, kernel):
    return KernelRows(X, kernel, dtype=np.float64)


def test_six_points_without_bias(six_points):
    p = six_points
    solver = SMO(double_rows(np.array([[-2], [-1], [-0.5], [0.5], [1], [2.0]]), Gaussian(1.0)), p.y, alpha=1 / 6,
                 fit_intercept=False)  # fmt: skip
    result = driver.run(solver, tol=1e-3)
    np.testing.assert_allclose(p.y * result.solution.coef, p.dual, atol=1e-6)
    assert result.objective == pytest.approx(p.optimum, abs=1e-9)
    assert result.converged and result.gap < 1e-9


def test_seven_points_with_bias(seven_points):
    p = seven_points
    x = np.array([[-2], [-1], [-0.5], [0.5], [1], [2.0], [3.0]])
    result = driver.run(SMO(double_rows(x, Gaussian(1.0)), p.y, alpha=1 / 7), tol=1e-3)
    np.testing.assert_allclose(p.y * result.solution.coef, p.dual, atol=1e-6)
    assert result.solution.intercept == pytest.approx(p.intercept, abs=1e-5)
    assert result.objective == pytest.approx(p.optimum, abs=1e-9)


def test_two_points_by_hand():
    """x = +1, -1, linear kernel: the widest margin is f(x) = x, no loss, objective alpha / 2."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    result = driver.run(SMO(double_rows(X, Linear()), y, alpha=0.01), tol=1e-6)
    np.testing.assert_allclose(result.solution.coef, [0.5, -0.5])
    assert result.objective == pytest.approx(0.005) and result.solution.intercept == pytest.approx(0)


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_classification(900, 12, n_informative=5, flip_y=0.15, random_state=0)
    return X, 2.0 * y - 1.0


@pytest.fixture(scope="module")
def libsvm_dual(overlapping):
    X, y = overlapping

    def solve(C, gamma):
        svc = SVC(C=C, gamma=gamma, tol=1e-7).fit(X, y)
        beta = np.zeros(len(y))
        beta[svc.support_] = svc.dual_coef_[0]
        return beta @ y - 0.5 * beta @ Gaussian(np.sqrt(0.5 / gamma))(X) @ beta, svc.intercept_[0]

    return solve


@pytest.mark.parametrize("C, gamma", [(0.1, 0.05), (1.0, 0.2), (100.0, 0.02)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [
    {}, {"classic_rows": 0}, {"classic_rows": 0, "working_set_size": 2}, {"classic_rows": 0, "shrinking": False},
])  # fmt: skip
def test_dual_objective_is_that_of_libsvm(overlapping, libsvm_dual, C, gamma, dtype, options):
    if options.get("working_set_size") == 2 and C == 100.0:
        C = 10.0  # sets of two need many rounds
    X, y = overlapping
    dual, intercept = libsvm_dual(C, gamma)
    rows = KernelRows(X, Gaussian(np.sqrt(0.5 / gamma)), dtype=dtype, cache_bytes=10**7)
    solver = SMO(rows, y, alpha=1 / (C * len(y)), tol=1e-4, **options)
    result = driver.run(solver, tol=1e-4)
    assert result.converged
    assert solver.dual_objective() * C * len(y) == pytest.approx(dual, rel=1e-5)
    assert result.solution.intercept == pytest.approx(intercept, abs=2e-3)
    assert result.gap <= 1e-3 * result.objective
    beta = result.solution.coef
    assert abs(beta.sum()) < 1e-9 * np.abs(beta).sum()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_shrinking_leaves_out_and_brings_back(overlapping, fit_intercept):
    X, y = overlapping
    results = []
    for shrinking in (True, False):
        rows = double_rows(X, Gaussian(1.5))
        solver = SMO(rows, y, alpha=1 / (10 * len(y)), fit_intercept=fit_intercept, tol=1e-5, shrinking=shrinking,
                     classic_rows=0, working_set_size=16)  # fmt: skip
        results.append(driver.run(solver, tol=1e-5))
        assert rows.n_rows == len(y)
    assert all(result.converged for result in results)
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-6)


def test_the_end_is_tested_on_everybody(overlapping):
    """`converged` is the violation over all coordinates, recomputed here from the kernel matrix."""
    X, y = overlapping
    K = Gaussian(2.0)(X)
    for tol in (1e-1, 1e-3):
        solver = SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (5 * len(y)), tol=tol, classic_rows=0,
                     working_set_size=32)  # fmt: skip
        beta = driver.run(solver, tol=tol).solution.coef
        e = y - K @ beta
        C = 5.0
        up = np.where(y > 0, beta < C, beta < 0)
        low = np.where(y > 0, beta > 0, beta > -C)
        assert e[up].max() - e[low].min() <= tol * (1 + 1e-6)


def test_stopped_early_is_not_called_converged(overlapping):
    X, y = overlapping
    result = driver.run(SMO(double_rows(X, Gaussian(1.0)), y, alpha=1e-5), max_iter=20, tol=1e-3)
    assert result.status == "max_iter" and not result.converged and result.gap > 0


def test_small_problems_are_solved_to_the_last_digits(overlapping):
    X, y = overlapping
    solver = SMO(double_rows(X[:200], Gaussian(1.5)), y[:200], alpha=1 / 200, tol=1e-1)
    result = driver.run(solver, tol=1e-1)
    assert result.converged and result.gap < 1e-9


def test_extra_digits_do_not_hide_that_tol_holds(overlapping):
    X, y = overlapping
    full = SMO(double_rows(X[:200], Gaussian(1.5)), y[:200], alpha=1 / 200, tol=1e-2)
    driver.run(full, tol=1e-2)
    solver = SMO(double_rows(X[:200], Gaussian(1.5)), y[:200], alpha=1 / 200, tol=1e-2)
    result = driver.run(solver, max_iter=full.n_iter - 1, tol=1e-2)
    assert result.converged


@pytest.mark.parametrize("storage", ["sparse", "precomputed", "callable"])
@pytest.mark.parametrize("classic_rows", [0, 5000])
def test_every_kind_of_rows(overlapping, storage, classic_rows):
    X, y = overlapping
    X = np.where(np.abs(X) > 1.2, X, 0.0)
    kernel = Gaussian(2.0)
    expected = driver.run(SMO(double_rows(X, kernel), y, alpha=1e-3, tol=1e-5)).objective
    rows = {
        "sparse": lambda: double_rows(sparse.csr_matrix(X), kernel),
        "precomputed": lambda: double_rows(kernel(X), Precomputed()),
        "callable": lambda: double_rows(X, Callable(lambda A, B: kernel(A, B))),
    }[storage]()
    result = driver.run(SMO(rows, y, alpha=1e-3, tol=1e-5, classic_rows=classic_rows))
    assert result.converged and result.objective == pytest.approx(expected, rel=1e-5)


def test_path_of_C_by_warm_starts(overlapping):
    X, y = overlapping
    n, previous, steps = len(y), None, []
    for C in (0.5, 1.0, 2.0):
        cold = driver.run(SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (C * n), classic_rows=0), tol=1e-3)
        warm = driver.run(
            SMO(double_rows(X, Gaussian(2.0)), y, alpha=1 / (C * n), classic_rows=0, initial=previous), tol=1e-3
        )
        assert warm.objective == pytest.approx(cold.objective, rel=1e-4)
        previous = warm.solution
        previous = Solution(previous.coef, previous.intercept)
        steps.append((warm.n_iter, cold.n_iter))
    assert steps[-1][0] < steps[-1][1]


def test_indefinite_kernels_end(overlapping):
    """A kernel that is not positive semi-definite has no certificate, but the run must end and say so."""
    X, y = overlapping
    K = np.tanh(0.5 * X @ X.T - 1.0)
    result = driver.run(SMO(double_rows(K, Precomputed()), y, alpha=1e-2), max_iter=20_000, tol=1e-3)
    assert np.all(np.isfinite(result.solution.coef))
    assert result.status in ("converged", "max_iter", "stalled")
