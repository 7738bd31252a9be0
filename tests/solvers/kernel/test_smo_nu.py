"""SMO for problems with a share nu: LIBSVM, a quadratic programme, starts, precisions; its cores: test_nu_twins."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import NuSVC, NuSVR

from kernbench.kernels import Gaussian
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.problems.nu_problem import NuClassification, NuMargin, NuResidual, NuRisk
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.smo.smo import SMO

SETS = {"classic_rows": 0, "working_set_size": 16}
both_ways = pytest.mark.parametrize("options", [{}, SETS], ids=["one set", "working sets"])
losses = pytest.mark.parametrize("loss", [NuMargin, NuResidual])


def draw(seed, n=None, d=3):
    """Rows, labels or targets of either problem, and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 120)) if n is None else n
    X = rng.normal(size=(n, d))
    labels = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.0, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    targets = X[:, 0] + np.sin(2.0 * X[:, -1]) + 0.3 * rng.normal(size=n)
    return X, {NuMargin: labels, NuResidual: targets}, rng.uniform(0.2, 3.0, size=n)


def largest(y, weights):
    """The largest feasible nu of two classes."""
    return 2.0 * min(weights[y > 0].sum(), weights[y < 0].sum()) / weights.sum()


def make(X, y, loss, *, twin="compiled", C=1.0, gamma=0.5, tol=1e-7, dtype=np.float64, **options):
    rows = KernelRows if twin == "compiled" else ReferenceRows
    data = rows(X, Gaussian(np.sqrt(0.5 / gamma)), dtype=dtype, cache_bytes=10**8)
    return SMO(data, y, alpha=1.0 / (C * len(y)), loss=loss, tol=tol, core=twin, **options)


def solve(*args, **options):
    solver = make(*args, **options)
    return solver, driver.run(solver, tol=solver.tol, max_iter=10**6)


@losses
@pytest.mark.parametrize("part", [0, 1, *(pytest.param(part, marks=pytest.mark.slow) for part in (2, 3))])
def test_it_is_libsvm_on_random_problems(loss, part):
    rng = np.random.default_rng(part)
    for seed in range(25 * part, 25 * part + 25):
        X, y, weights = draw(seed)
        y, weights = y[loss], weights if seed % 2 else np.ones(len(X))
        # A small nu with overlapping classes has the optimum f = 0, which LIBSVM refuses.
        nu = float(rng.uniform(0.5, 1.0)) * (largest(y, weights) if loss is NuMargin else 1.0)
        C, gamma = 1.0 if loss is NuMargin else float(rng.choice([0.05, 1, 20])), float(rng.choice([0.5, 3]))
        solver, ours = solve(X, y, loss(nu), C=C, gamma=gamma, weights=weights, **(SETS if seed % 4 == 1 else {}))
        settings = {"C": C} if loss is NuResidual else {}
        peer = {NuMargin: NuSVC, NuResidual: NuSVR}[loss](nu=nu, gamma=gamma, tol=1e-8, **settings)
        peer.fit(X, y, sample_weight=weights)
        coef, K = np.zeros(len(y)), Gaussian(np.sqrt(0.5 / gamma))(X)
        coef[peer.support_] = peer.dual_coef_[0]
        # LIBSVM divides f by rho.
        scale = nu * weights.sum() / np.abs(coef).sum() if loss is NuMargin else 1.0
        coef, f = scale * coef, scale * (K @ coef)
        theirs = solver.problem.objective(f, coef @ f, scale * peer.intercept_[0])
        size = max(abs(ours.objective), 1e-6)
        assert ours.converged and ours.gap <= 1e-6 * size
        assert ours.objective <= theirs + 1e-6 * size
        assert theirs <= ours.objective + 1e-3 * size  # LIBSVM keeps its kernel values in float32
        if loss is NuMargin:
            assert ours.solution.state["level"][0] == pytest.approx(scale, rel=1e-3)


@both_ways
@losses
@pytest.mark.parametrize("nu", [0.3, 0.9])
def test_it_is_the_optimum_of_a_quadratic_programme(loss, nu, options):
    """With variables of both signs for targets, by SLSQP; objective less gap is never above the optimum."""
    X, y, weights = draw(5, n=16)
    y, n, C = y[loss], 16, 2.0
    nu = nu * largest(y, weights) if loss is NuMargin else nu
    K, total = Gaussian(1.0)(X), C * nu * weights.sum()
    if loss is NuMargin:
        signs, linear, weights_of = y, np.zeros(n), weights
        sums = [{"type": "eq", "fun": lambda v, s=s: v[signs == s].sum() - total / 2} for s in (1, -1)]
    else:
        signs, linear, weights_of = np.repeat([1.0, -1.0], n), np.tile(y, 2), np.tile(weights, 2)
        K = np.tile(K, (2, 2))
        sums = [{"type": "eq", "fun": lambda v: signs @ v}, {"type": "ineq", "fun": lambda v: total - v.sum()}]

    def minus_dual(v):
        beta = signs * v
        return 0.5 * beta @ K @ beta - linear @ beta, signs * (K @ beta - linear)

    start = np.full(len(signs), 1e-3)
    found = minimize(minus_dual, start, jac=True, bounds=[(0, C * w) for w in weights_of], constraints=sums,
                     method="SLSQP", options={"ftol": 1e-14, "maxiter": 2000})  # fmt: skip
    assert found.success
    optimum = -found.fun / (C * n)
    for tol in (1e-9, 1e-2):
        _, ours = solve(X, y, loss(nu), C=C, weights=weights, tol=tol, **options)
        assert ours.objective - ours.gap <= optimum + 1e-7 * abs(optimum)
        assert ours.objective >= optimum - 1e-7 * abs(optimum)
    _, ours = solve(X, y, loss(nu), C=C, weights=weights, tol=1e-9, **options)
    assert ours.converged and ours.objective == pytest.approx(optimum, rel=1e-6)


@losses
@pytest.mark.parametrize("n, classic_rows", [(900, 2500), (900, 0)], ids=["one set", "working sets"])
def test_shrinking_and_precision_do_not_matter(loss, n, classic_rows):
    X, y, _ = draw(6, n=n)
    options = {"classic_rows": classic_rows, "working_set_size": 64, "tol": 1e-5}
    _, plain = solve(X, y[loss], loss(0.5), shrinking=False, **options)
    _, shrunk = solve(X, y[loss], loss(0.5), **options)
    _, single = solve(X, y[loss], loss(0.5), dtype=np.float32, **{**options, "tol": 1e-3})
    rows = TwoPrecisionRows(X, Gaussian(1.0), cache_bytes=10**8)
    refined = driver.run(SMO(rows, y[loss], alpha=1 / n, loss=loss(0.5), **options), tol=1e-5, max_iter=10**6)
    assert plain.converged and shrunk.converged and refined.converged and single.converged
    for result, share in ((shrunk, 3e-5), (refined, 3e-5), (single, 2e-3)):
        assert result.objective == pytest.approx(plain.objective, rel=share)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
@losses
def test_sets_of_two_coordinates_solve_both_families(loss, twin):
    X, y, _ = draw(12, n=30)
    _, whole = solve(X, y[loss], loss(0.3), tol=1e-3, twin=twin)
    _, pairs = solve(X, y[loss], loss(0.3), tol=1e-3, twin=twin, classic_rows=0, working_set_size=2)
    assert pairs.converged and pairs.objective == pytest.approx(whole.objective, rel=2e-3)


@losses
@both_ways
def test_a_solution_is_a_start(loss, options):
    X, y, weights = draw(7, n=100)
    _, result = solve(X, y[loss], loss(0.4), weights=weights, tol=1e-6, **options)
    again = make(X, y[loss], loss(0.4), weights=weights, tol=1e-6, initial=result.solution, **options)
    assert driver.run(again, max_iter=10**6).n_iter == 0 < result.n_iter
    start = Solution(result.solution.coef + 0.1)  # its sums are restored
    _, anew = solve(X, y[loss], loss(0.4), weights=weights, tol=1e-6, initial=start, **options)
    assert anew.objective == pytest.approx(result.objective, rel=1e-5)


def test_an_infeasible_nu_is_refused_with_the_largest():
    X, y, _ = draw(1, n=20)
    labels = np.where(np.arange(20) < 4, 1.0, -1.0)
    for weights, most in ((np.ones(20), "0.4"), (np.where(labels > 0, 2.0, 1.0), "0.666667")):
        with pytest.raises(ValueError, match=f"specified nu is infeasible.*at most {most}"):
            make(X, labels, NuMargin(0.9), weights=weights)
    for nu in (0.0, 1.5, "0.5", None, np.nan):
        with pytest.raises(ValueError, match="nu must be"):
            NuMargin(nu)


@losses
@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_equal_rows_and_constant_targets_end(loss, twin):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    solver, equal = solve(np.ones((4, 2)), y, loss(0.5), twin=twin)
    assert equal.status in ("converged", "stalled") and abs(equal.objective - equal.gap) <= 1.0
    if loss is NuResidual:
        _, constant = solve(np.eye(4), np.full(4, 3.0), loss(0.5), twin=twin)
        assert constant.converged and constant.objective == 0.0 and constant.solution.intercept == pytest.approx(3.0)


def test_the_losses_of_rows_add_up_to_the_objective_of_nu():
    rng = np.random.default_rng(0)
    y, scores, weights = np.repeat([-1.0, 1.0], 10), rng.normal(size=20), rng.uniform(0.5, 2.0, 20)
    problem = NuClassification(SimpleNamespace(n_rows=20), y, alpha=1.0, weights=weights, loss=NuMargin(0.4))
    risk = NuRisk(problem)
    risk.sensitive(scores, 0.0)
    total = risk._losses(np.arange(20), scores).sum() - problem.mass * risk._level
    assert total == pytest.approx(problem.loss_sum(scores, 0.0))


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_novelty_detector_has_no_y(twin):
    X, y, _ = draw(0, n=20)
    rows = (KernelRows if twin == "compiled" else ReferenceRows)(X, Gaussian(1.0), dtype=np.float64)
    for targets in (None, y[NuResidual]):
        solver = SMO(rows, targets, alpha=0.05, loss="one_class", core=twin)
        assert driver.run(solver, tol=1e-3).converged
