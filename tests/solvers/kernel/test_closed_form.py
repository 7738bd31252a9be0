"""The Parzen classifier: where it is the minimiser, and that its gap shows where it is not."""

import numpy as np
import pytest

from kernbench.kernels import Gaussian
from kernbench.kernels.functions import Precomputed
from kernbench.kernels.rows import KernelRows
from kernbench.problems.kernel.parzen import smallest_alpha
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver, registry

ENTRY = registry.get("closed-form")
TWINS = {"compiled": KernelRows, "reference": ReferenceRows}
either_twin = pytest.mark.parametrize("twin", TWINS)


def problem(n=80, seed=0, balanced=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > (0 if balanced else 0.5), 1.0, -1.0)
    if balanced:
        y = np.where(np.argsort(np.argsort(X[:, 0] + 0.5 * rng.normal(size=n))) < n // 2, -1.0, 1.0)
    return X, y


def solve(name, X, y, twin="compiled", tol=1e-10, **options):
    entry = registry.get(name)
    rows = TWINS[twin](X, Gaussian(1.0), dtype=np.float64)
    if name == "smo":
        options["tol"] = tol
    solver = entry.load(twin)(rows, y, **options)
    return solver, driver.run(solver, tol=tol, max_iter=entry.iteration_limit(len(y)))


@either_twin
def test_tiny_worked_example(twin):
    K, y = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([1.0, -1.0])
    solver = ENTRY.load(twin)(TWINS[twin](K, Precomputed(), dtype=np.float64), y, alpha=1.0)
    assert solver.objective() == 1.0  # of f = 0
    assert driver.run(solver, tol=1e-12).converged
    np.testing.assert_allclose(solver.solution().coef, [0.5, -0.5])
    assert solver.objective() == pytest.approx(0.875, abs=1e-15)
    assert solver.smallest_alpha == pytest.approx(0.25)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n", [80, 600])  # kernel rows are computed 256 at a time
def test_twins_agree(n, weighted, fit_intercept):
    X, y = problem(n, balanced=True)
    weights = np.random.default_rng(1).uniform(0.2, 2.0, size=len(y))
    weights[:7] = 0.0
    weights[y > 0] *= weights[y < 0].sum() / weights[y > 0].sum()
    for alpha in (1.0, 1e-2):
        options = dict(alpha=alpha, weights=weights if weighted else None, fit_intercept=fit_intercept)
        (ours, a), (theirs, b) = (solve("closed-form", X, y, twin, **options) for twin in TWINS)
        np.testing.assert_allclose(a.solution.coef, b.solution.coef, rtol=1e-12)
        assert a.solution.intercept == pytest.approx(b.solution.intercept, abs=1e-12)
        assert a.objective == pytest.approx(b.objective, rel=1e-12)
        assert a.gap == pytest.approx(b.gap, abs=1e-12)
        assert (a.status, a.n_iter, a.n_kernel_evaluations) == (b.status, b.n_iter, b.n_kernel_evaluations)
        assert a.n_kernel_evaluations == len(y) * (len(y) - 7 * weighted)
        assert ours.smallest_alpha == pytest.approx(theirs.smallest_alpha, rel=1e-12)
        expected = (weights if weighted else 1.0) * y / (alpha * len(y))
        np.testing.assert_allclose(a.solution.coef, expected, rtol=1e-12)


@pytest.mark.parametrize("name, tol", [("smo", 1e-8), ("sdca", 1e-9)])
def test_at_alpha_one_a_gaussian_kernel_leads_everybody_here(name, tol):
    X, y = problem()
    K = ReferenceRows(X, Gaussian(1.0)).batch(range(len(y)))
    best = 1 - y @ K @ y / (2 * len(y) ** 2)
    exact, result = solve("closed-form", X, y, alpha=1.0, fit_intercept=False)
    assert result.converged and result.objective == pytest.approx(best, abs=1e-14)
    other, _ = solve(name, X, y, alpha=1.0, fit_intercept=False, tol=tol)
    assert other.objective() == pytest.approx(best, abs=1e-6)
    np.testing.assert_allclose(other.solution().coef, exact.solution().coef, atol=1e-6 / len(y))


@pytest.mark.parametrize("n_iter", [20, 100])
def test_pegasos_comes_nearer_by_the_law(n_iter):
    """While all hinges are active f_T is a mean of T draws of y k(x, .), so E F(f_T) - F* = (1 - ||f*||^2) / (2 T)."""
    X, y = problem(n=60)
    rows, K = KernelRows(X, Gaussian(1.0), dtype=np.float64), Gaussian(1.0)(X, X)
    square, excess = y @ K @ y / len(y) ** 2, []
    for seed in range(400):
        solver = registry.get("pegasos").load()(
            rows, y, alpha=1.0, fit_intercept=False, random_state=seed, rescale=False
        )
        solver.advance(n_iter)
        coef = solver.solution().coef
        f = K @ coef
        excess.append(0.5 * coef @ f + np.maximum(0.0, 1.0 - y * f).mean() - (1.0 - 0.5 * square))
    error = np.std(excess, ddof=1) / np.sqrt(len(excess))
    assert abs(np.mean(excess) - (1.0 - square) / (2 * n_iter)) < 3 * error


@pytest.mark.parametrize("fit_intercept", [False, True])
@either_twin
def test_the_threshold_is_sharp(twin, fit_intercept):
    X, y = problem(balanced=True)
    solver, _ = solve("closed-form", X, y, twin, alpha=1.0, fit_intercept=fit_intercept)
    for factor, holds in ((1.001, True), (0.9, False)):
        alpha = factor * solver.smallest_alpha
        _, result = solve("closed-form", X, y, twin, alpha=alpha, fit_intercept=fit_intercept)
        assert result.converged == holds
        assert result.status == ("converged" if holds else "stalled")
        smo, _ = solve("smo", X, y, alpha=alpha, fit_intercept=fit_intercept)
        excess = result.objective - smo.objective()
        assert -1e-9 <= excess <= result.gap + 1e-9
        assert (excess < 1e-9) == holds


@either_twin
def test_below_the_threshold_the_intercept_is_the_best_one(twin):
    X, y = problem(balanced=True)
    solver, _ = solve("closed-form", X, y, twin, alpha=1.0, fit_intercept=True)
    _, result = solve("closed-form", X, y, twin, alpha=0.1 * solver.smallest_alpha, fit_intercept=True)
    f = Gaussian(1.0)(X) @ result.solution.coef
    losses = [np.maximum(0.0, 1.0 - y * (f + b)).mean() for b in (result.solution.intercept, *(y - f))]
    assert losses[0] == pytest.approx(min(losses), rel=1e-12)


@either_twin
def test_an_intercept_of_unequal_classes_is_refused(twin):
    X, y = problem()
    with pytest.raises(ValueError, match="fit_intercept=False"):
        solve("closed-form", X, y, twin, alpha=1.0, fit_intercept=True)
    weights = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0)) * len(y) / 2
    _, result = solve("closed-form", X, y, twin, alpha=1.0, fit_intercept=True, weights=weights)
    assert result.converged


@either_twin
def test_other_losses_are_refused(twin):
    X, y = problem()
    with pytest.raises(ValueError, match="minimises loss='hinge' only"):
        solve("closed-form", X, y, twin, alpha=1.0, loss="log_loss")


def test_a_warm_start_computes_it_anew():
    X, y = problem()
    first, result = solve("closed-form", X, y, alpha=1.0)
    again, _ = solve("closed-form", X, y, alpha=2.0, initial=result.solution)
    assert again.n_iter == 2
    np.testing.assert_allclose(again.solution().coef, result.solution.coef / 2)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_rows_without_weight_need_no_regularisation(fit_intercept):
    sums, y, weights = np.array([[2.0, -1.0, 1.0, -50.0], [1.0, -1.0, 1.0, -1.0], [1.0, 2.0, 1.0, 0.0]])
    of_four, of_three = (n * smallest_alpha(sums[:n], y[:n], weights[:n], fit_intercept=fit_intercept) for n in (4, 3))
    assert of_four == of_three
