"""Solvers of regressions against oracles: ridge, quadratic and linear programmes, L-BFGS; and their certified gaps."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from kernbench.losses.regression import regression_loss
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.design import as_design
from kernbench.solvers.registry import SOLVERS, get

PARAMETERS = {"delta": 0.6, "epsilon": 0.2, "quantile": 0.3}
REGRESSIONS = ("kernel-regression", "linear-regression")  # of losses that add up over the rows
COMBINATIONS = [(entry, loss) for entry in SOLVERS if entry.problem in REGRESSIONS for loss in entry.losses]
with_loss = pytest.mark.parametrize(
    "entry, loss", COMBINATIONS, ids=lambda c: c if isinstance(c, str) else f"{c.problem[:6]}-{c.name}"
)
dual_methods = pytest.mark.parametrize("kind", ["linear-regression", "kernel-regression"])
weighting = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
LOSSES = get("sdca", "linear-regression").losses
STEPS = {"sdca": 200, "rbcd": 20}  # passes, else 100
EXCESS = {"sdca": 1e-9, "rbcd": 1e-8, "norma": 0.2}  # (P - P*) / P* at their end, else 5e-2


def matrix_of(problem, kind):
    """The inner products of all rows."""
    if kind == "kernel-regression":
        return problem.kernel(problem.X, problem.X)
    X = problem.X.toarray() if hasattr(problem.X, "toarray") else np.asarray(problem.X, dtype=np.float64)
    return X @ X.T


def optimum(problem, kind, loss, alpha):
    """The optimal objective, by L-BFGS-B on the dual; kinks of psi get variables for both signs."""
    K, y, n = matrix_of(problem, kind), problem.y, problem.n
    w = np.ones(n) if problem.weights is None else problem.weights

    def minus_dual(v):
        a = w * (v[:n] - v[n:])
        Ka = K @ a
        value = (loss.zone * w @ (v[:n] + v[n:]) + 0.5 * loss.bend * w @ (v[:n] - v[n:]) ** 2 - a @ y) / n
        slope = w * (loss.bend * (v[:n] - v[n:]) - y) / n + w * Ka / (alpha * n**2)
        zone = loss.zone * w / n
        return value + 0.5 * a @ Ka / (alpha * n**2), np.concatenate([slope + zone, zone - slope])

    ends = [(0, loss.upper if np.isfinite(loss.upper) else None)] * n
    ends += [(0, -loss.lower if np.isfinite(loss.lower) else None)] * n
    found = minimize(minus_dual, np.zeros(2 * n), jac=True, bounds=ends, method="L-BFGS-B",
                     options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 40_000})  # fmt: skip
    return -found.fun


@weighting
@with_loss
def test_approaches_the_optimum_and_bounds_the_distance(entry, loss, weighted, regression, regress):
    problem, loss = regression(120, 1, d=6, weighted=weighted), regression_loss(loss, **PARAMETERS)
    best = optimum(problem, entry.problem, loss, 0.02)
    solver = regress(entry, "compiled", problem, alpha=0.02, loss=loss, **({"tol": 1e-11} if entry.name == "sdca" and
                     entry.kind.first == "design" else {}))  # fmt: skip
    steps = STEPS.get(entry.name, 100) * problem.n
    for part in (steps // 20, steps - steps // 20):
        solver.advance(part)
        excess = solver.objective() - best
        assert excess >= -1e-6 * best  # L-BFGS-B is not exact either
        assert solver.gap() >= excess - 1e-6 * best
    assert excess <= EXCESS.get(entry.name, 5e-2) * best + 1e-6 * best
    limit = {"sdca": 1e-7, "rbcd": 1e-8, "sbmd": 1.0}.get(entry.name, 0.9)
    assert solver.gap() <= limit * solver.objective()


@weighting
@dual_methods
def test_squared_error_is_ridge(kind, weighted, regression, regress):
    """The fixed point of the dual: (K + n alpha / w) a = n alpha y, f = K a / (alpha n)."""
    problem, alpha = regression(50, 3, d=4, weighted=weighted), 0.05
    w = np.ones(problem.n) if problem.weights is None else problem.weights
    K, used = matrix_of(problem, kind), w > 0
    coef = np.zeros(problem.n)
    penalty = np.diag(problem.n * alpha / w[used])
    coef[used] = np.linalg.solve(K[np.ix_(used, used)] + penalty, problem.y[used])
    options = {"tol": 1e-14} if kind == "linear-regression" else {}
    solver = regress(get("sdca", kind), "compiled", problem, alpha=alpha, **options)
    found = driver.run(solver, tol=1e-14, max_iter=10**5)
    ours = found.solution.coef
    values = problem.kernel(problem.X, problem.X) @ ours if kind == "kernel-regression" else problem.X @ ours
    np.testing.assert_allclose(values, K @ coef, atol=1e-6)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_weak_regularisation_gives_the_linear_programme_of_quantiles(q, regression, regress):
    problem = regression(60, 4, d=3)
    n, d = problem.X.shape
    costs = np.concatenate([np.zeros(2 * d), np.full(n, q), np.full(n, 1 - q)]) / n
    rows = np.hstack([problem.X, -problem.X, np.eye(n), -np.eye(n)])
    found = linprog(costs, A_eq=rows, b_eq=problem.y, bounds=(0, None))
    w, alpha = found.x[:d] - found.x[d : 2 * d], 1e-3
    loss = regression_loss("quantile", quantile=q)
    solver = regress(get("sdca", "linear-regression"), "compiled", problem, alpha=alpha, loss=loss, tol=1e-8)
    ours = driver.run(solver, tol=1e-8, max_iter=10**6)
    assert ours.converged
    assert found.fun <= ours.objective <= (found.fun + 0.5 * alpha * w @ w) * (1 + 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@dual_methods
def test_dual_ascent_closes_the_gap(kind, loss, regression, regress):
    """To rounding, n = 30."""
    problem, loss = regression(30, 5, d=3), regression_loss(loss, **PARAMETERS)
    options = {"tol": 0.0} if kind == "linear-regression" else {}
    solver = regress(get("sdca", kind), "compiled", problem, alpha=0.02, loss=loss, **options)
    for _ in range(80):
        solver.advance(30 * 250)
        if solver.gap() <= 1e-12 * solver.objective():
            return
    raise AssertionError(f"the gap is {solver.gap()} after 20,000 passes, the objective {solver.objective()}")


def test_the_epsilon_insensitive_loss_is_that_of_libsvm_without_an_intercept(regression, regress):
    """Whose dual is a quadratic programme; here solved by scipy's SLSQP."""
    problem, alpha = regression(25, 6, d=2), 0.05
    K, n = problem.kernel(problem.X, problem.X), problem.n
    found = minimize(
        lambda v: 0.5 * (v[:n] - v[n:]) @ K @ (v[:n] - v[n:]) - problem.y @ (v[:n] - v[n:]) + 0.2 * v.sum(),
        np.zeros(2 * n), bounds=[(0, 1 / (alpha * n))] * (2 * n), method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )  # fmt: skip
    loss = regression_loss("epsilon_insensitive", epsilon=0.2)
    solver = regress(get("sdca", "kernel-regression"), "compiled", problem, alpha=alpha, loss=loss)
    solver.advance(5000)
    assert solver.objective() == pytest.approx(-alpha * found.fun, rel=1e-6)
    np.testing.assert_allclose(K @ solver.solution().coef, K @ (found.x[:n] - found.x[n:]), atol=1e-3)


@with_loss
def test_a_run_in_parts_is_one_long_run(entry, loss, regression, regress):
    problem, loss = regression(80, 7, weighted=True), regression_loss(loss, **PARAMETERS)
    rng = np.random.default_rng(3)
    whole = regress(entry, "compiled", problem, loss=loss, random_state=np.random.default_rng(3))
    begun = regress(entry, "compiled", problem, loss=loss, random_state=rng)
    grain = whole.granularity
    whole.advance(3 * max(grain, 100))
    begun.advance(max(grain, 100))
    rest = regress(entry, "compiled", problem, loss=loss, random_state=rng, initial=begun.solution())
    assert rest.objective() == pytest.approx(begun.objective(), rel=1e-9)
    rest.advance(2 * max(grain, 100))
    np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=1e-6, atol=1e-9)


@with_loss
def test_another_parameter_of_the_loss_is_a_warm_start_only(entry, loss, regression, regress):
    problem = regression(60, 8)
    first = regress(entry, "compiled", problem, loss=regression_loss(loss, **PARAMETERS))
    first.advance(512)
    other = regression_loss(loss, delta=0.3, epsilon=0.5, quantile=0.6)
    second = regress(entry, "compiled", problem, loss=other, initial=Solution(first.solution().coef))
    for _ in range(3):
        second.advance(512)
        assert second.gap() >= 0 and np.isfinite(second.objective())


@dual_methods
def test_targets_have_no_unit(kind, regression, regress):
    """Targets times c with the loss's parameter times c: f times c, for the losses that are homogeneous."""
    problem = regression(60, 9)
    for scale in (1e-4, 1e5):
        fits = []
        for c in (1.0, scale):
            scaled = type(problem)(**{**vars(problem), "y": c * problem.y})
            solver = regress(get("sdca", kind), "compiled", scaled, alpha=0.05)
            solver.advance(60 * 300)
            fits.append(solver.solution().coef / c)
        np.testing.assert_allclose(fits[1], fits[0], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@pytest.mark.parametrize("kind", ["linear-regression", "kernel-regression"])
def test_bad_targets_are_refused(kind, twin, regression, regress):
    problem, entry = regression(20, 0), get("sdca", kind)
    for change, message in (
        ({"y": problem.y[:5]}, "one target per row"),
        ({"y": np.full(20, np.nan)}, "finite numbers"),
        ({"weights": np.zeros(20)}, "positive weight"),
    ):
        with pytest.raises(ValueError, match=message):
            regress(entry, twin, type(problem)(**{**vars(problem), **change}))
    if kind == "kernel-regression":
        with pytest.raises(ValueError, match="without an intercept: pass fit_intercept=False"):
            regress(entry, twin, problem, fit_intercept=True)
    with pytest.raises(ValueError, match="must hold -1 and \\+1 only"):
        regress(entry, twin, problem, loss="hinge")


def test_rbcd_refuses_losses_with_kinks(regression, regress):
    with pytest.raises(ValueError, match="only, not 'quantile'"):
        regress(get("rbcd", "linear-regression"), "compiled", regression(20, 0), loss="quantile")


@pytest.mark.parametrize("loss", ["absolute_error", "epsilon_insensitive", "quantile"])
def test_gaps_of_sbmd_are_close_for_losses_with_kinks(loss):
    """Dual variables smoothed around the kinks alone leave gaps of 7 to 18 %."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = X @ rng.normal(size=20) + rng.normal(size=2000)
    solver = get("sbmd", "linear-regression").load()(as_design(X), y, alpha=0.01, loss=loss, random_state=0)
    solver.advance(10**5)
    assert 0.0 < solver.gap() < 0.06 * solver.objective()
