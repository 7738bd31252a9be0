"""Newton's method for kernel regression: kernel ridge regression, a robust one, and matrices that are not definite."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge

from kernbench import KernelRegressor
from kernbench.kernels import Gaussian
from kernbench.solvers.registry import get


def test_weak_regularisation_is_kernel_ridge_regression_in_one_step():
    X, y = load_diabetes(return_X_y=True)
    model = KernelRegressor(gamma=1.0, alpha=0.01 / 442).fit(X, y)
    theirs = KernelRidge(kernel="rbf", gamma=1.0, alpha=0.01).fit(X, y - y.mean())
    np.testing.assert_allclose(model.predict(X), theirs.predict(X) + y.mean(), rtol=1e-8)
    assert model.solver_ == "newton" and model.converged_ and model.n_iter_ == 1
    assert model.n_kernel_evaluations_ == 442**2


@pytest.mark.parametrize("delta", [0.01, 0.3])
def test_huber_minimises_its_objective(delta):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y, weights = np.sin(X[:, 0]) + 0.3 * rng.standard_t(2, size=40), rng.uniform(0.2, 2.0, size=40)
    K, weights = X @ X.T + 1.0, weights / weights.mean()

    def objective(coef):
        f = K @ coef
        size = np.abs(f - y)
        losses = np.where(size < delta, 0.5 * size**2, delta * (size - 0.5 * delta))
        slopes = weights * np.clip(f - y, -delta, delta) / 40
        return 0.5e-2 * coef @ f + weights @ losses / 40, K @ (1e-2 * coef + slopes)

    best = minimize(objective, np.zeros(40), jac=True, tol=1e-14, options={"maxiter": 10**5}).fun
    model = KernelRegressor("huber", delta=delta, kernel="precomputed", alpha=1e-2, fit_intercept=False, tol=1e-10)
    model.fit(K, y, sample_weight=weights)
    assert model.solver_ == "newton" and model.converged_
    assert best * (1 - 1e-9) <= model.objective_ + model.duality_gap_
    assert model.objective_ - model.duality_gap_ <= model.objective_ <= best * (1 + 1e-6)
    assert model.n_iter_ <= 30


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_equal_rows_at_a_tiny_alpha_are_solved(twin):
    """Rounding makes the matrix indefinite, and its diagonal is raised."""
    entry, rng = get("newton", "kernel-regression"), np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(12, 2)), 5, axis=0), rng.normal(size=60)
    data = entry.kind.make_data(X, Gaussian(1.0), twin=twin, dtype=np.float64)
    solver = entry.load(twin)(data, y, alpha=1e-20)
    solver.advance(3)
    noise = (y.reshape(12, 5) - y.reshape(12, 5).mean(axis=1, keepdims=True)).ravel()
    assert solver.objective() == pytest.approx(0.5 * np.mean(noise**2), rel=1e-2)


@pytest.mark.parametrize("twin", ["compiled", "reference"])
def test_a_start_leaves_rows_out_that_have_no_weight_now(twin):
    entry, rng = get("newton", "kernel-regression"), np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    data = entry.kind.make_data(X, Gaussian(1.0), twin=twin, dtype=np.float64)
    first = entry.load(twin)(data, y, alpha=0.01)
    first.advance(3)
    weights = (np.arange(20) > 4).astype(float)
    anew, resumed = (
        entry.load(twin)(data, y, alpha=0.01, weights=weights, initial=initial) for initial in (None, first.solution())
    )
    for solver in (anew, resumed):
        solver.advance(3)
        assert solver.converged
    np.testing.assert_allclose(resumed.solution().coef, anew.solution().coef, atol=1e-9)


def test_an_indefinite_matrix_is_named():
    with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
        KernelRegressor(kernel="precomputed").fit(-np.eye(4), [0.0, 1.0, 2.0, 4.0])
