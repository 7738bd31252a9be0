"""SMO for losses of a residual: LIBSVM, quadratic programmes, a linear system; kinks, shrinking, starts, precisions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVR, LinearSVR

from kernbench.kernels import Gaussian, Linear
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.losses.regression import QUADRATIC_LOSSES, RESIDUAL_LOSSES, regression_loss
from kernbench.reference.kernel.smo.working_set import WorkingSet as ReferenceSet
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.active_set import ActiveSet
from kernbench.solvers.kernel.smo.smo import SMO

EPSILON = regression_loss("epsilon_insensitive", epsilon=0.1)
SETS = {"classic_rows": 0, "working_set_size": 16}
twins = pytest.mark.parametrize("twin", ["compiled", "reference"])
both_ways = pytest.mark.parametrize("options", [{}, SETS], ids=["one set", "working sets"])
residual_losses = pytest.mark.parametrize("loss", [loss for loss in QUADRATIC_LOSSES if loss in RESIDUAL_LOSSES])


def draw(seed, n=None, d=3, noise=0.3):
    """Rows, targets and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120)) if n is None else n
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + np.sin(2.0 * X[:, -1]) + noise * rng.normal(size=n), rng.uniform(0.2, 3.0, size=n)


def make(X, y, loss=EPSILON, *, twin="compiled", C=1.0, gamma=0.5, tol=1e-8, dtype=np.float64, **options):
    rows = KernelRows if twin == "compiled" else ReferenceRows
    data = rows(X, Gaussian(np.sqrt(0.5 / gamma)), dtype=dtype, cache_bytes=10**8)
    return SMO(data, y, alpha=1.0 / (C * len(y)), loss=loss, tol=tol, core=twin, **options)


def solve(*args, **options):
    solver = make(*args, **options)
    return solver, driver.run(solver, tol=solver.tol, max_iter=10**6)


@pytest.mark.parametrize("part", range(4))
def test_it_is_libsvm_on_random_problems(part):
    rng = np.random.default_rng(part)
    for seed in range(12 * part, 12 * part + 12):
        X, y, weights = draw(seed, d=int(rng.integers(1, 5)))
        if seed % 3 == 0:
            X, y = np.round(X), np.round(y, 1)  # equal rows, equal targets
        C, epsilon, gamma = (float(rng.choice(values)) for values in ([0.05, 1, 20], [0, 0.05, 0.4], [0.05, 0.5, 3]))
        weights = weights if seed % 2 else np.ones(len(y))
        loss = regression_loss("epsilon_insensitive", epsilon=epsilon)
        options = SETS if seed % 4 == 1 else {}
        _, ours = solve(X, y, loss, C=C, gamma=gamma, weights=weights, **options)
        peer = SVR(C=C, epsilon=epsilon, gamma=gamma, tol=1e-8).fit(X, y, sample_weight=weights)
        coef, K = np.zeros(len(y)), Gaussian(np.sqrt(0.5 / gamma))(X)
        coef[peer.support_] = peer.dual_coef_[0]
        residuals = K @ coef + peer.intercept_ - y
        theirs = (0.5 * coef @ K @ coef / C + weights @ loss.value(residuals)) / len(y)
        assert ours.converged and ours.gap <= 1e-8 * ours.objective
        assert ours.objective <= theirs * (1 + 1e-7) + 1e-12
        assert theirs <= ours.objective * (1 + 1e-4) + 1e-9  # LIBSVM keeps its kernel values in float32


@both_ways
@residual_losses
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_optimum_of_a_quadratic_programme(loss, fit_intercept, options):
    """With variables for both signs, by SLSQP."""
    X, y, weights = draw(5, n=18)
    loss, n, C = regression_loss(loss, epsilon=0.2, delta=0.4, quantile=0.3), len(y), 2.0
    K = Gaussian(1.0)(X) + np.diag(loss.bend / (C * weights))
    bounds = [(0, C * w * min(loss.upper, 1e3)) for w in weights] + [
        (0, -C * w * max(loss.lower, -1e3)) for w in weights
    ]

    def minus_dual(v):
        beta = v[:n] - v[n:]
        slope = K @ beta - y
        return 0.5 * beta @ K @ beta - y @ beta + loss.zone * v.sum(), np.r_[slope + loss.zone, loss.zone - slope]

    balance = [{"type": "eq", "fun": lambda v: v[:n].sum() - v[n:].sum()}] if fit_intercept else []
    found = minimize(minus_dual, np.zeros(2 * n), jac=True, bounds=bounds, constraints=balance, method="SLSQP",
                     options={"ftol": 1e-14, "maxiter": 2000})  # fmt: skip
    assert found.success
    solver, ours = solve(X, y, loss, C=C, weights=weights, fit_intercept=fit_intercept, tol=1e-9, **options)
    assert ours.converged
    assert solver.dual_objective() == pytest.approx(-found.fun / (C * n), rel=1e-7)
    assert ours.objective == pytest.approx(-found.fun / (C * n), rel=1e-7)


@twins
def test_squared_error_is_a_linear_system(twin):
    """(K + n alpha I) beta + b = y, sum beta = 0: ridge regression with an intercept that is not regularised."""
    X, y, _ = draw(1, n=40)
    C = 3.0
    K = Gaussian(1.0)(X) + np.eye(40) / C
    system = np.block([[K, np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(y, 0.0))
    _, ours = solve(X, y, "squared_error", twin=twin, C=C, tol=1e-10)
    np.testing.assert_allclose(ours.solution.coef, expected[:-1], atol=1e-6)
    assert ours.solution.intercept == pytest.approx(expected[-1], abs=1e-6)


def test_the_squared_epsilon_insensitive_loss_is_that_of_liblinear():
    X, y, _ = draw(2, n=80, noise=0.5)
    peer = LinearSVR(loss="squared_epsilon_insensitive", C=0.7, epsilon=0.3, fit_intercept=False, tol=1e-10,
                     max_iter=10**6, dual=True).fit(X, y)  # fmt: skip
    rows = KernelRows(X, Linear(), dtype=np.float64)
    loss = regression_loss("squared_epsilon_insensitive", epsilon=0.3)
    solver = SMO(rows, y, alpha=1 / (0.7 * 80), loss=loss, fit_intercept=False, tol=1e-9)
    np.testing.assert_allclose(X.T @ driver.run(solver, max_iter=10**6).solution.coef, peer.coef_, atol=1e-5)


@twins
def test_targets_inside_the_zone_need_no_step(twin):
    X, y, _ = draw(3, n=30)
    loss = regression_loss("epsilon_insensitive", epsilon=float(np.ptp(y)))
    _, result = solve(X, y, loss, twin=twin)
    assert result.converged and not result.solution.coef.any() and result.objective == 0.0
    assert np.abs(y - result.solution.intercept).max() <= loss.parameter


@twins
@both_ways
def test_coefficients_end_exactly_at_the_kink(twin, options):
    """Rows strictly inside the zone have the coefficient 0, those strictly outside C: no rounding errors."""
    X, y, _ = draw(4, n=90)
    _, result = solve(X, y, twin=twin, **options)
    coef = result.solution.coef
    size = np.abs(Gaussian(1.0)(X) @ coef + result.solution.intercept - y)
    assert (coef[size < 0.1 - 1e-6] == 0).all() and (np.abs(coef[size > 0.1 + 1e-6]) == 1.0).all()
    assert 0 < (coef == 0).sum() < 90


@twins
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("classic_rows", [2500, 0], ids=["one set", "working sets"])
def test_shrinking_leaves_out_rows_inside_the_zone(classic_rows, fit_intercept, twin, monkeypatch):
    X, y, _ = draw(6, n=600, noise=0.05)
    loss = regression_loss("epsilon_insensitive", epsilon=0.2)
    restricted, entered, sizes, results = ActiveSet._leave_out, ReferenceSet._enter, [], []

    def counted(active, *arguments):
        members = restricted(active, *arguments)
        sizes.append(len(active.indices))
        return members

    def counted_core(working_set):
        entered(working_set)
        if working_set.core is not None:
            sizes.append(len(working_set.places))

    monkeypatch.setattr(ActiveSet, "_leave_out", counted)
    monkeypatch.setattr(ReferenceSet, "_enter", counted_core)
    for shrinking in (True, False):
        results.append(solve(X, y, loss, twin=twin, shrinking=shrinking, classic_rows=classic_rows, working_set_size=64,
                             fit_intercept=fit_intercept, tol=1e-6)[1])  # fmt: skip
        if twin == "reference" or classic_rows == 0:
            assert sizes and min(sizes) < len(y) / 2 if shrinking else sizes == []
        sizes.clear()
    assert all(result.converged for result in results)
    assert results[0].objective == pytest.approx(results[1].objective, rel=2e-6)
    # The compiled core of one set cannot be seen, but to leave rows out changes the rounding of the gradient.
    assert not np.array_equal(*(result.solution.state["products"] for result in results))


@residual_losses
@both_ways
def test_a_solution_is_a_start(loss, options):
    X, y, weights = draw(7, n=100)
    solver, result = solve(X, y, loss, weights=weights, tol=1e-6, **options)
    again = make(X, y, loss, weights=weights, tol=1e-6, initial=result.solution, **options)
    assert driver.run(again, max_iter=10**6).n_iter == 0 < result.n_iter
    start = Solution(result.solution.coef + 0.1)  # balanced and clipped
    anew = driver.run(make(X, y, loss, weights=weights, tol=1e-6, initial=start, **options), max_iter=10**6)
    assert anew.objective == pytest.approx(result.objective, rel=1e-5)
    assert abs(anew.solution.coef.sum()) <= 1e-9


@residual_losses
def test_float32_rows_and_both_precisions_end_at_the_same_objective(loss):
    X, y, _ = draw(8, n=300)
    _, exact = solve(X, y, loss, tol=1e-7)
    _, single = solve(X, y, loss, tol=1e-4, dtype=np.float32)
    rows = TwoPrecisionRows(X, Gaussian(1.0), cache_bytes=10**8)
    refined = driver.run(SMO(rows, y, alpha=1 / 300, loss=loss, tol=1e-7), tol=1e-7, max_iter=10**6)
    assert refined.converged
    assert single.objective == pytest.approx(exact.objective, rel=1e-3)
    assert refined.objective == pytest.approx(exact.objective, rel=1e-6)


@twins
@residual_losses
def test_the_unit_of_targets_does_not_matter(loss, twin):
    """The tolerance is relative to the size of the targets."""
    X, y, _ = draw(9, n=50)
    found = []
    for unit in (1.0, 2.0**30, 2.0**-30):
        scaled = regression_loss(loss, epsilon=0.1 * unit, delta=0.5 * unit)
        weight = 1.0 if loss in ("epsilon_insensitive", "absolute_error", "quantile") else 1.0 / unit
        solver, result = solve(X, unit * y, scaled, twin=twin, C=unit * weight, tol=1e-6)
        assert result.converged
        found.append((result.n_iter, result.objective * weight / unit))
    for n_iter, objective in found[1:]:  # ties of pairs are broken by rounding
        assert n_iter == pytest.approx(found[0][0], rel=0.2)
        assert objective == pytest.approx(found[0][1], rel=1e-5)


@pytest.mark.parametrize("C", [1e4, 1e8])
def test_a_large_C_is_certified(C):
    X, y, _ = draw(10, n=60)
    _, result = solve(X, y, C=C, gamma=5.0, tol=1e-3)
    assert result.converged and result.gap <= 1e-3 * result.objective


def test_one_row_and_equal_rows():
    _, one = solve(np.ones((1, 2)), np.array([3.0]))
    assert one.converged and one.solution.intercept == pytest.approx(3.0, abs=0.1)
    y = np.array([0.0, 1.0, 2.0, 3.0])
    _, equal = solve(np.ones((4, 2)), y)
    assert equal.converged and equal.solution.intercept + Gaussian(1.0)(np.ones((1, 2)), np.ones((4, 2)))[0] @ (
        equal.solution.coef
    ) == pytest.approx(1.5, abs=0.5)
