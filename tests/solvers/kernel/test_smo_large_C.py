"""SMO at a C so large that the boxes are practically unbounded: hard margins, and the meaning of `converged`."""

from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from kernbench import KernelSVC
from kernbench.kernels import Gaussian, Linear
from kernbench.kernels.rows import KernelRows
from kernbench.kernels.two_precisions import TwoPrecisionRows
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import driver
from kernbench.solvers.kernel.smo.smo import SMO

SIGMA = 1.2
MOST_GAP = 0.1  # share of the objective, where a run is called converged
LARGE = [1e6, 1e9, 1e12, 1e13, 1e14, 1e16]
SETS = {"classic_rows": 0, "working_set_size": 16}
TWINS = {
    "classic": (lambda X: KernelRows(X, Gaussian(SIGMA), dtype=np.float64), SMO, {}),
    "sets": (lambda X: KernelRows(X, Gaussian(SIGMA), dtype=np.float64), SMO, SETS),
    "float32": (lambda X: KernelRows(X, Gaussian(SIGMA), dtype=np.float32), SMO, {}),
    "refined": (lambda X: TwoPrecisionRows(X, Gaussian(SIGMA)), SMO, SETS),
    "reference": (lambda X: ReferenceRows(X, Gaussian(SIGMA)), partial(SMO, core="reference"), {}),
    "reference-sets": (lambda X: ReferenceRows(X, Gaussian(SIGMA)), partial(SMO, core="reference"), SETS),
}
by_twin = pytest.mark.parametrize("twin", TWINS)
# The reference is slow; its twins take the same steps.
by_twin_and_C = pytest.mark.parametrize(
    "twin, C",
    [
        pytest.param(twin, C, marks=pytest.mark.slow if twin.startswith("reference") and C in (1e9, 1e13, 1e14) else ())
        for twin in TWINS
        for C in LARGE
    ],
)


@pytest.fixture(scope="module")
def separable():
    """Two classes that overlap in their features, but not for a Gaussian kernel."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)


def solve(twin, X, y, C, *, tol=1e-3, max_iter=300_000, **options):
    rows, solver, own = TWINS[twin]
    solver = solver(rows(X), y, alpha=1 / (C * len(y)), tol=tol, **own, **options)
    return driver.run(solver, tol=tol, max_iter=max_iter)


def gap_of(result, X, y, C, loss, weights=1.0):
    """Primal minus dual objective and the primal one, both from the kernel matrix, of the problem without 1/n."""
    beta, K = result.solution.coef, Gaussian(SIGMA)(X)
    f = K @ beta
    slack = np.maximum(0, 1 - y * (f + result.solution.intercept))
    primal = 0.5 * beta @ f + C * (weights * slack ** (1 if loss == "hinge" else 2)).sum()
    dual = beta @ y - 0.5 * beta @ f
    if loss == "squared_hinge":
        dual -= (beta**2 / (4 * C * weights)).sum()
    return primal - dual, primal


@by_twin_and_C
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_hard_margin_is_that_of_libsvm(separable, twin, C, loss):
    X, y = separable
    result = solve(twin, X, y, C, loss=loss)
    beta = result.solution.coef
    expected = SVC(C=C, gamma=0.5 / SIGMA**2, tol=1e-6).fit(X, y).decision_function(X)
    found = Gaussian(SIGMA)(X) @ beta + result.solution.intercept
    np.testing.assert_allclose(found, expected, atol=1e-2, rtol=1e-3)
    assert result.converged and result.gap <= MOST_GAP * result.objective
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    if twin != "float32" and C <= 1e9:  # beyond, rounding in K beta is what the gap is made of
        gap, primal = gap_of(result, X, y, C, loss)
        assert -1e-6 * primal <= gap <= MOST_GAP * primal
        assert result.objective * C * len(y) == pytest.approx(primal, rel=1e-3)


@by_twin_and_C
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_without_intercept_all_are_outside_the_margin(separable, twin, C, loss):
    X, y = separable
    result = solve(twin, X, y, C, loss=loss, fit_intercept=False)
    assert result.converged and result.gap <= MOST_GAP * result.objective
    assert (y * (Gaussian(SIGMA)(X) @ result.solution.coef)).min() >= 1 - 2e-3


@by_twin
@pytest.mark.parametrize("heavy", [1e6, 1e12, 1e14])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_an_infinite_weight_of_one_class(separable, twin, heavy, fit_intercept):
    """No positive may be inside the margin, at any cost for the negatives, which have weight 1."""
    X, y = separable
    weights = np.where(y > 0, heavy, 1.0)
    result = solve(twin, X, y, 1.0, weights=weights, fit_intercept=fit_intercept)
    beta = result.solution.coef
    found = Gaussian(SIGMA)(X) @ beta + result.solution.intercept
    assert result.converged and result.gap <= MOST_GAP * result.objective
    assert found[y > 0].min() >= 1 - 2e-3
    if fit_intercept:
        svc = SVC(C=1.0, gamma=0.5 / SIGMA**2, tol=1e-6, class_weight={1: heavy, -1: 1}).fit(X, y)
        np.testing.assert_allclose(found, svc.decision_function(X), atol=1e-2)
        assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()


@pytest.mark.parametrize("C", LARGE)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_estimator_is_as_good_as_libsvm(separable, C, loss):
    X, y = separable
    model = KernelSVC(C=C, loss=loss).fit(X, y)
    assert model.score(X, y) == SVC(C=C).fit(X, y).score(X, y) == 1.0
    # Beyond some C rounding allows no certificate: then the gap says so.
    assert model.converged_ == bool(np.all(model.duality_gap_ <= model.tol * model.objective_))
    assert model.converged_ or C >= 1e10
    assert abs(model.dual_coef_.sum()) <= 1e-12 * np.abs(model.dual_coef_).sum()


@pytest.mark.parametrize("twin", ["sets", "refined"])
@pytest.mark.parametrize("C", [1e4, 1e8, 1e14])
def test_converged_is_certified_on_working_sets(twin, C):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 3))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] > 0, 1.0, -1.0)
    rows, solver, _ = TWINS[twin]
    options = {"classic_rows": 0, "working_set_size": 256}
    result = driver.run(solver(rows(X), y, alpha=1 / (C * len(y)), **options), tol=1e-3, max_iter=2_000_000)
    assert not result.converged or result.gap <= MOST_GAP * result.objective
    assert C > 1e4 or result.converged


@pytest.mark.parametrize("C, tol", [(1e3, 1e-3), (1e6, 1e-3), (1e10, 1e-3), (1e16, 1e-3), (1e10, 0.5)])
@pytest.mark.parametrize("max_iter", [10, 200, 1000, 30_000])
@by_twin
def test_no_run_is_called_converged_at_a_large_gap(separable, twin, C, tol, max_iter):
    """Two equal points of opposite labels: they are not separable, at a cost of C."""
    X, y = separable
    X, y = np.vstack([X, X[:1]]), np.append(y, -y[0])
    result = solve(twin, X, y, C, tol=tol, max_iter=max_iter)
    assert not result.converged or result.gap <= max(MOST_GAP, 10 * tol) * result.objective


def test_a_start_outside_the_balance_is_balanced_at_any_C(separable):
    """The rounding of a start's coefficients is measured against them, not against the box."""
    X, y = separable
    first = solve("classic", X, y, 1e3)
    start = first.solution
    start.coef = start.coef + 0.01 * (y > 0)
    other = solve("classic", X, y, 1e16, initial=start)
    np.testing.assert_allclose(other.solution.state["products"], Gaussian(SIGMA)(X) @ other.solution.coef, atol=1e-8)


@pytest.mark.parametrize("C, max_iter", [(1e4, 200_000), (1e6, 1_000_000)])
def test_linear_kernels_do_not_creep(separable, C, max_iter):
    """LIBSVM does not converge within 10^7 steps at C = 10^6."""
    X, y = separable
    solver = SMO(KernelRows(X, Linear(), dtype=np.float64), y, alpha=1 / (C * len(y)))
    result = driver.run(solver, tol=1e-3, max_iter=max_iter)
    assert result.converged and result.gap <= 1e-3 * result.objective
    assert abs(result.solution.coef.sum()) <= 1e-9 * np.abs(result.solution.coef).sum()
