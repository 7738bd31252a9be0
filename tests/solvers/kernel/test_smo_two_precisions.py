"""SMO that begins on float32 rows ends like SMO on float64 rows, with a float64 certificate."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from kernbench.kernels import Callable, Gaussian, Linear, Precomputed
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.smo import SMO

SETS = {"classic_rows": 0, "working_set_size": 64}


@pytest.fixture(scope="module")
def overlapping():
    X, y = make_classification(900, 12, n_informative=5, flip_y=0.15, random_state=0)
    return np.where(np.abs(X) > 0.9, X, 0.0), 2.0 * y - 1.0


def ridge_of(y, alpha, weights, loss):
    return 0.5 * alpha * len(y) / weights if loss == "squared_hinge" else np.zeros(len(y))


def exact_gradient(K, y, beta, ridge):
    return y - K @ beta - ridge * beta


def exact_violation(K, y, beta, *, alpha, weights, loss, fit_intercept=True):
    """The largest violation, from the float64 kernel matrix and the definition."""
    e = exact_gradient(K, y, beta, ridge_of(y, alpha, weights, loss))
    size = weights / (alpha * len(y)) if loss == "hinge" else np.full(len(y), np.inf)
    can_grow, can_shrink = np.where(y > 0, beta < size, beta < 0), np.where(y > 0, beta > 0, beta > -size)
    if fit_intercept:
        return e[can_grow].max() - e[can_shrink].min()
    return max(e[can_grow].max(initial=0.0), -e[can_shrink].min(initial=0.0))


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("loss, fit_intercept", [("hinge", True), ("hinge", False), ("squared_hinge", True)])
@pytest.mark.parametrize("weighted, storage", [(False, np.asarray), (True, sparse.csr_matrix)])
def test_it_ends_where_float64_rows_do(overlapping, tol, loss, fit_intercept, weighted, storage):
    X, y = overlapping
    alpha, kernel, K = 1 / (20 * len(y)), Gaussian(1.5), Gaussian(1.5)(X)
    weights = np.random.default_rng(0).uniform(0.3, 3.0, len(y)) if weighted else np.ones(len(y))
    problem = {"alpha": alpha, "weights": weights, "loss": loss, "fit_intercept": fit_intercept}
    options = {**problem, "tol": tol, **SETS}
    solver = SMO(TwoPrecisionRows(storage(X), kernel), y, **options)
    result = driver.run(solver, tol=tol)
    plain = driver.run(SMO(KernelRows(storage(X), kernel, dtype=np.float64), y, **options), tol=tol)
    beta = result.solution.coef
    assert result.converged and plain.converged
    assert exact_violation(K, y, beta, **problem) <= tol * (1 + 1e-6) + 1e-12
    assert solver.violation == pytest.approx(exact_violation(K, y, beta, **problem), abs=1e-10)
    # Each gap certifies its own end, so that the two cannot be further apart.
    assert abs(result.objective - plain.objective) <= max(result.gap, plain.gap) + 1e-12
    scores = K @ beta + result.solution.intercept
    margin_losses = np.maximum(0.0, 1 - y * scores) ** (1 if loss == "hinge" else 2)
    primal = 0.5 * alpha * beta @ K @ beta + np.mean(weights * margin_losses)
    dual = 0.5 * alpha * beta @ (exact_gradient(K, y, beta, ridge_of(y, alpha, weights, loss)) + y)
    assert result.objective == pytest.approx(primal, rel=1e-12)
    assert result.gap == pytest.approx(primal - dual, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("sigma, C, tol", [(50.0, 1e5, 1e-3), (0.05, 100.0, 1e-9), (200.0, 1e4, 1e-7)])
def test_where_float32_does_not_get_far(overlapping, sigma, C, tol):
    """Nearly equal rows, a nearly singular or a nearly diagonal kernel matrix: float64 rows converge."""
    X, y = overlapping[0][:200], overlapping[1][:200]
    X = np.vstack([X, X + 1e-5])
    y = np.concatenate([y, y])
    alpha = 1 / (C * len(y))
    solver = SMO(TwoPrecisionRows(X, Gaussian(sigma)), y, alpha=alpha, tol=tol, **SETS)
    result = driver.run(solver, tol=tol, max_iter=1_000_000)
    plain = SMO(KernelRows(X, Gaussian(sigma), dtype=np.float64), y, alpha=alpha, tol=tol, **SETS)
    assert result.status == driver.run(plain, tol=tol, max_iter=1_000_000).status == "converged"
    K = Gaussian(sigma)(X)
    found = exact_violation(K, y, result.solution.coef, alpha=alpha, weights=np.ones(len(y)), loss="hinge")
    assert found <= tol + 1e-15 * C * len(y)


def test_float32_rows_that_lead_nowhere_are_given_up(overlapping, monkeypatch):
    """Inconsistent float32 values: no step on them helps, and the result does not depend on them."""
    X, y = overlapping
    noise = np.random.default_rng(0)

    def rows_of(self, dtype):
        if dtype is np.float64:
            return plain_rows(self, dtype)
        return KernelRows(X, Callable(lambda A, B: kernel(A, B) + 0.3 * noise.standard_normal((len(A), len(B)))))

    kernel, plain_rows = Gaussian(2.0), TwoPrecisionRows.of
    monkeypatch.setattr(TwoPrecisionRows, "of", rows_of)
    solver = SMO(TwoPrecisionRows(X, kernel), y, alpha=1e-4, shrinking=False, **SETS)
    result = driver.run(solver, tol=1e-3)
    expected = driver.run(SMO(KernelRows(X, kernel, dtype=np.float64), y, alpha=1e-4, **SETS), tol=1e-3)
    assert result.converged and abs(result.objective - expected.objective) <= max(result.gap, expected.gap)


def test_every_value_counts(overlapping):
    X, y = overlapping
    rows = TwoPrecisionRows(X, Gaussian(1.5))
    narrow = rows.of(np.float32)
    result = driver.run(SMO(rows, y, alpha=1e-3, tol=1e-2, **SETS), tol=1e-2)
    assert rows.of(np.float32) is narrow, "this problem should not need float64 rows"
    n_used = np.count_nonzero(result.solution.coef)
    assert result.n_kernel_evaluations == narrow.n_evaluations + len(y) * n_used
    wide = rows.of(np.float64)
    wide.batch([3, 5])
    assert rows.n_evaluations == result.n_kernel_evaluations + 2 * len(y)


def test_it_goes_on_from_a_solution(overlapping):
    X, y = overlapping
    build = {"alpha": 1e-3, "tol": 1e-5, **SETS}
    cold = driver.run(SMO(TwoPrecisionRows(X, Gaussian(1.5)), y, **build))
    rows = TwoPrecisionRows(X, Gaussian(1.5))
    warm = driver.run(SMO(rows, y, initial=cold.solution, **build))
    assert warm.converged and warm.n_iter == 0
    assert rows.n_evaluations == 0  # the solution knows K times its coefficients
    np.testing.assert_array_equal(warm.solution.coef, cold.solution.coef)
    bare = driver.run(SMO(rows, y, initial=Solution(cold.solution.coef), **build))
    assert bare.converged and bare.n_iter == 0
    assert rows.n_evaluations == len(y) * np.count_nonzero(cold.solution.coef)
    assert bare.objective == pytest.approx(warm.objective, rel=1e-9)
    larger = {**build, "alpha": 5e-4}
    path = driver.run(SMO(rows, y, initial=Solution(cold.solution.coef), **larger))
    cold = driver.run(SMO(rows, y, **larger))
    assert path.converged and path.objective == pytest.approx(cold.objective, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_start_with_products_is_the_start_without(overlapping, loss):
    """Their gradient includes the ridge of a squared loss."""
    X, y = overlapping
    build = {"alpha": 1e-3, "loss": loss, **SETS}
    coef = driver.run(SMO(TwoPrecisionRows(X, Gaussian(1.5)), y, **build), max_iter=300).solution.coef
    starts = Solution(coef, state={"products": Gaussian(1.5)(X) @ coef}), Solution(coef)
    one, other = (SMO(TwoPrecisionRows(X, Gaussian(1.5)), y, initial=start, **build) for start in starts)
    assert one.violation == pytest.approx(other.violation, rel=1e-9)
    assert one.dual_objective() == pytest.approx(other.dual_objective(), rel=1e-9)


def test_the_split_of_the_steps_does_not_matter(overlapping):
    X, y = overlapping
    ends = []
    for step in (1, 700, 10**9):
        solver = SMO(TwoPrecisionRows(X, Gaussian(1.5)), y, alpha=1e-4, tol=1e-6, **SETS)
        while solver.advance(step):
            pass
        assert solver.converged
        ends.append(solver.solution())
    for end in ends[1:]:
        np.testing.assert_array_equal(end.coef, ends[0].coef)
        assert end.n_iter == ends[0].n_iter


@pytest.mark.parametrize("max_iter", [50, 2000])
def test_stopped_early_it_tells_an_exact_gap(overlapping, max_iter):
    X, y = overlapping
    K, alpha = Gaussian(1.5)(X), 1e-6
    solver = SMO(TwoPrecisionRows(X, Gaussian(1.5)), y, alpha=alpha, **SETS)
    counted = []
    result = driver.run(solver, max_iter=max_iter, tol=1e-3, callback=lambda s: counted.append(s.n_kernel_evaluations))
    assert result.status == "max_iter" and result.n_kernel_evaluations == counted[-1]
    beta = result.solution.coef
    primal = 0.5 * alpha * beta @ K @ beta + np.mean(np.maximum(0, 1 - y * (K @ beta + result.solution.intercept)))
    dual = alpha * (beta @ y - 0.5 * beta @ K @ beta)
    assert result.objective == pytest.approx(primal, rel=1e-11)
    assert result.gap == pytest.approx(primal - dual, rel=1e-9)


def test_given_values_have_one_precision(overlapping):
    X, _ = overlapping
    for data, kernel in (X @ X.T, Precomputed()), (X, Callable(lambda A, B: A @ B.T)):
        with pytest.raises(ValueError, match="one precision"):
            TwoPrecisionRows(data, kernel)
    with pytest.raises(ValueError, match="end in float64"):
        TwoPrecisionRows(X, Linear(), dtype=np.float32)


def test_one_cache_at_a_time(overlapping):
    X, _ = overlapping
    rows = TwoPrecisionRows(X, Gaussian(1.5), cache_bytes=10**6)
    narrow = rows.of(np.float32)
    assert narrow.dtype is np.float32 and rows.of(np.float32) is narrow
    wide = rows.of(np.float64)
    assert wide.dtype is np.float64 and wide.capacity * 8 * wide.n_rows <= 10**6
    assert rows.of(np.float32) is not narrow
