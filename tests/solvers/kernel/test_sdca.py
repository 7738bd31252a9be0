"""Dual coordinate ascent: worked numbers, optima of all losses with and without an intercept, laws, what it counts."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver, registry

ENTRY = registry.get("sdca")
LOSSES = ENTRY.losses
either_twin = pytest.mark.parametrize("twin", ["compiled", "reference"])
either_bias = pytest.mark.parametrize("fit_intercept", [True, False], ids=["bias", "no-bias"])
SIX = np.array([-2, -1, -0.5, 0.5, 1, 2]), np.array([-1.0, -1, 1, -1, 1, 1])


def rows_of(twin, X, cache_bytes=10**8):
    make = KernelRows if twin == "compiled" else ReferenceRows
    return make(X, Gaussian(1.0), dtype=np.float64, cache_bytes=cache_bytes)


def dual_objective(solver, y, alpha, weights, loss):
    """D, from the coefficients."""
    n, solution = len(y), solver.solution()
    a = np.divide(alpha * n * y * solution.coef, weights, out=np.zeros(n), where=weights > 0)
    return (
        weights @ loss.dual_value(np.clip(a, 0, loss.upper)) / n
        - 0.5 * alpha * solution.coef @ solution.state["responses"]
    )


@either_twin
def test_worked_example_without_bias(twin):
    x, y = SIX
    solver = ENTRY.load(twin)(rows_of(twin, x[:, None]), y, alpha=1 / 6, fit_intercept=False, random_state=0)
    assert driver.run(solver, tol=1e-11, max_iter=100_000).converged
    a = y * solver.solution().coef
    np.testing.assert_allclose(a, [0.685524, 1, 1, 1, 1, 0.685524], atol=1e-6)
    heights = y * solver.solution().state["responses"]
    np.testing.assert_allclose(heights, [1, 0.714996, -0.356812, -0.356812, 0.714996, 1], atol=1e-6)
    assert np.sqrt(a @ heights) == pytest.approx(1.4447889663, abs=1e-9)
    assert solver.objective() == pytest.approx(0.7212233496, abs=1e-9)


@either_twin
def test_worked_example_with_bias(twin):
    x, y = np.append(SIX[0], 3.0), np.append(SIX[1], 1.0)
    solver = ENTRY.load(twin)(rows_of(twin, x[:, None]), y, alpha=1 / 7, random_state=0)
    assert driver.run(solver, tol=1e-11, max_iter=100_000).converged
    solution = solver.solution()
    np.testing.assert_allclose(y * solution.coef, [0.821566, 1, 1, 1, 1, 0.129715, 0.691851], atol=1e-6)
    assert solution.intercept == pytest.approx(0.136226, abs=1e-6)
    assert solver.objective() == pytest.approx(0.6424537082, abs=1e-9)
    assert np.sqrt(solution.coef @ solution.state["responses"]) == pytest.approx(1.5139059, abs=1e-6)


def smooth_optimum(K, y, alpha, weights, loss, fit_intercept):
    """The optimal objective of a smooth loss, by L-BFGS on v and the intercept, f = R v with R R' = K."""
    n = len(y)
    R = np.linalg.cholesky(K + 1e-12 * np.eye(n))

    def objective(z):
        v, margins = z[:n], y * (R @ z[:n] + z[n])
        pull = weights * y * loss.slope(margins) / n
        value = 0.5 * alpha * v @ v + weights @ loss.value(margins) / n
        return value, np.append(alpha * v + R.T @ pull, pull.sum() * fit_intercept)

    options = {"maxiter": 1000, "gtol": 1e-9, "ftol": 1e-15}
    return minimize(objective, np.zeros(n + 1), jac=True, method="L-BFGS-B", options=options).fun


def slsqp_optimum(K, y, alpha, weights, fit_intercept):
    """The optimal dual objective of the hinge, by SLSQP."""
    n = len(y)
    Q = np.outer(y, y) * K / (alpha * n)
    constraint = [{"type": "eq", "fun": lambda u: y @ u, "jac": lambda u: y}] if fit_intercept else []
    found = minimize(
        lambda u: 0.5 * u @ Q @ u - u.sum(), np.zeros(n), jac=lambda u: Q @ u - 1, method="SLSQP",
        bounds=[(0, w) for w in weights], constraints=constraint, options={"maxiter": 1000, "ftol": 1e-14},
    )  # fmt: skip
    return -found.fun / n


@either_bias
@pytest.mark.parametrize("options", [{}, {"order": "uniform"}, {"shrinking": False}], ids=["plain", "uniform", "all"])
@pytest.mark.parametrize("loss", LOSSES)
def test_ends_at_the_optimum(loss, options, fit_intercept, classification):
    problem = classification(60, 3, weighted=True)
    problem.weights[5] = 0.0
    K, alpha = ReferenceRows(problem.X, Gaussian(1.0)).batch(range(60)), 1 / 120
    solver = ENTRY.load()(
        rows_of("compiled", problem.X), problem.y, alpha=alpha, weights=problem.weights, loss=loss,
        fit_intercept=fit_intercept, random_state=1, **options,
    )  # fmt: skip
    if loss == "hinge":
        best = slsqp_optimum(K, problem.y, alpha, problem.weights, fit_intercept)
    else:
        best = smooth_optimum(K, problem.y, alpha, problem.weights, solver.problem.loss, fit_intercept)
    assert driver.run(solver, tol=1e-9, max_iter=300_000).converged
    assert solver.objective() == pytest.approx(best, rel=1e-7)
    if fit_intercept:
        assert solver.solution().coef.sum() == pytest.approx(0, abs=1e-9 * np.abs(solver.solution().coef).sum())


@either_bias
def test_ends_where_smo_does(fit_intercept, classification):
    problem = classification(300, 5)
    options = dict(alpha=1 / 300, fit_intercept=fit_intercept)
    sdca = ENTRY.load()(rows_of("compiled", problem.X), problem.y, random_state=0, **options)
    smo = registry.get("smo").load()(rows_of("compiled", problem.X), problem.y, tol=1e-9, **options)
    assert driver.run(sdca, tol=1e-8, max_iter=600_000).converged
    driver.run(smo)
    assert sdca.objective() == pytest.approx(smo.objective(), rel=2e-8)
    np.testing.assert_allclose(sdca.solution().state["responses"], smo_responses(smo, problem), atol=2e-3)


def smo_responses(smo, problem):
    return ReferenceRows(problem.X, Gaussian(1.0)).matvec(smo.solution().coef)


@either_bias
@pytest.mark.parametrize("loss", LOSSES)
def test_the_dual_only_grows_and_the_gap_is_certified(loss, fit_intercept, classification):
    problem = classification(120, 2, weighted=True)
    solver = ENTRY.load()(
        rows_of("compiled", problem.X), problem.y, alpha=1 / 600, weights=problem.weights, loss=loss,
        fit_intercept=fit_intercept, random_state=0,
    )  # fmt: skip
    before, seen = 0.0, []
    for _ in range(40):
        solver.advance(16)
        now = dual_objective(solver, problem.y, 1 / 600, problem.weights, solver.problem.loss)
        assert now >= before - 1e-12
        before = now
        seen.append((solver.objective(), solver.gap()))
    driver.run(solver, tol=1e-9, max_iter=1_000_000)
    best = solver.objective()
    for objective, gap in seen:
        assert objective - best <= gap + 1e-9


def test_dual_gap_obeys_the_rate_of_the_theory(classification):
    """E[D* - D(a_T)] <= n / (T + n) (alpha/2 |coef*|^2 + D*), for uniform draws from a = 0 (Lu and Xiao, 2015)."""
    problem = classification(80, 4)
    n, alpha = 80, 1 / 400

    def run(seed, steps):
        solver = ENTRY.load()(
            rows_of("compiled", problem.X), problem.y, alpha=alpha, fit_intercept=False, order="uniform",
            shrinking=False, random_state=seed,
        )  # fmt: skip
        solver.advance(steps)
        return dual_objective(solver, problem.y, alpha, np.ones(n), solver.problem.loss)

    best = run(0, 400_000)
    a = ENTRY.load()(rows_of("compiled", problem.X), problem.y, alpha=alpha, fit_intercept=False, random_state=0)
    driver.run(a, tol=1e-10, max_iter=400_000)
    coef = a.solution().coef
    bound = 0.5 * alpha * coef @ coef + best
    for steps in (n, 4 * n, 16 * n):
        mean = np.mean([best - run(seed, steps) for seed in range(1, 13)])
        assert 0 <= mean <= n / (steps + n) * bound


@either_bias
def test_evaluations_are_n_per_variable_that_moves(fit_intercept, classification):
    problem = classification(100, 6)
    options = dict(alpha=1 / 100, fit_intercept=fit_intercept, shrinking=False, random_state=0)
    reference = ENTRY.load("reference")(rows_of("reference", problem.X), problem.y, **options)
    compiled = ENTRY.load()(rows_of("compiled", problem.X), problem.y, **options)
    for solver in (reference, compiled):
        solver.advance(100)
        moved = np.count_nonzero(solver.solution().coef)
        if solver is reference:
            assert solver.n_kernel_evaluations == 100 * moved  # each once: an epoch begins at 0
        assert 100 * moved <= solver.n_kernel_evaluations <= 100 * 100  # some fetched rows are not used
        assert solver.n_inner_products == solver.n_kernel_evaluations
        evaluations = solver.n_kernel_evaluations
        solver.objective(), solver.gap(), solver.check(1e-3)
        assert solver.n_kernel_evaluations == evaluations
    compiled.advance(100_000)
    assert compiled.n_kernel_evaluations <= 100 * 100  # the cache holds all


def test_settled_examples_are_not_visited(classification):
    problem = classification(300, 7)
    counts = {}
    for shrinking in (True, False):
        solver = ENTRY.load()(
            rows_of("compiled", problem.X), problem.y, alpha=1 / 300, shrinking=shrinking, random_state=0
        )
        driver.run(solver, tol=1e-6, max_iter=600_000)
        assert solver.converged
        counts[shrinking] = solver.n_iter
    assert counts[True] < 0.7 * counts[False]


@pytest.mark.parametrize("alpha", [1 / 40, 1 / 400, 1 / 4000])
@either_bias
@either_twin
def test_a_path_of_alphas_starts_from_the_last_solution(twin, fit_intercept, alpha, classification):
    problem = classification(40, 8)

    def solve(alpha, initial=None):
        solver = ENTRY.load(twin)(
            rows_of(twin, problem.X),
            problem.y,
            alpha=alpha,
            fit_intercept=fit_intercept,
            random_state=0,
            initial=initial,
        )
        return solver

    first = solve(1 / 400)
    first.advance(2560)
    second = solve(alpha, first.solution())
    np.testing.assert_allclose(
        second.solution().state["responses"],
        ReferenceRows(problem.X, Gaussian(1.0)).matvec(second.solution().coef),
        atol=1e-10,
    )
    assert second.gap() >= 0
    if alpha == 1 / 400:
        np.testing.assert_array_equal(second.solution().coef, first.solution().coef)
    elif fit_intercept:
        assert second.solution().coef.sum() == pytest.approx(0, abs=1e-10)


@either_twin
def test_a_start_from_another_loss_or_without_an_intercept_is_made_feasible(twin, classification):
    problem = classification(60, 8)
    options = dict(alpha=1 / 60, random_state=0)
    first = ENTRY.load(twin)(rows_of(twin, problem.X), problem.y, loss="squared_hinge", fit_intercept=False, **options)
    first.advance(2560)
    start = first.solution()
    assert start.state["dual"].max() > 1.0 and abs(start.coef.sum()) > 1e-3
    solver = ENTRY.load(twin)(rows_of(twin, problem.X), problem.y, initial=start, **options)
    solution = solver.solution()
    assert 0.0 <= solution.state["dual"].min() and solution.state["dual"].max() <= 1.0
    assert solution.coef.sum() == pytest.approx(0, abs=1e-10)
    responses = ReferenceRows(problem.X, Gaussian(1.0)).matvec(solution.coef)
    np.testing.assert_allclose(solution.state["responses"], responses, atol=1e-9)


@either_bias
def test_duplicates_of_opposite_labels(fit_intercept):
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    y = np.tile([1.0, -1.0], 10)
    for loss in LOSSES:
        solver = ENTRY.load()(
            rows_of("compiled", X), y, alpha=1e-3, loss=loss, fit_intercept=fit_intercept, random_state=0
        )
        assert driver.run(solver, tol=1e-6, max_iter=100_000).converged
        assert np.abs(solver.solution().state["responses"]).max() < 5e-3


def test_unknown_orders_are_refused(classification):
    problem = classification(20, 9)
    for twin in ("compiled", "reference"):
        with pytest.raises(ValueError, match="did you mean 'permutation'"):
            ENTRY.load(twin)(rows_of(twin, problem.X), problem.y, alpha=0.1, order="permutations")
