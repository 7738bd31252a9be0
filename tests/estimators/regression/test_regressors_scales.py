"""Targets of any scale: fits are those at scale 1, rescaled, and no gap claims more than holds."""

from functools import cache

import numpy as np
import pytest

from kernbench import KernelRegressor, KernelSVR, LinearRegressor
from kernbench.losses.regression import RESIDUAL_LOSSES, regression_loss
from kernbench.solvers import registry


def has_scale(name):
    """Whether the loss of residuals in another unit is the loss with its parameter in that unit, but for a factor."""
    one, other = (regression_loss(name, delta=0.5 * unit, epsilon=0.1 * unit, quantile=0.3) for unit in (1.0, 2.0))
    r, factor = np.linspace(-3.0, 3.0, 61), 4.0 if np.isfinite(one.smoothness) else 2.0
    return np.allclose(other.value(2.0 * r), factor * one.value(r))


LOSSES = [name for name in RESIDUAL_LOSSES if has_scale(name)]
KINDS = {LinearRegressor: "linear-regression", KernelRegressor: "kernel-regression"}
EXACT = {LinearRegressor: ("newton", "rbcd"), KernelRegressor: ("newton", "smo")}
CASES = [
    (Model, name, loss)
    for Model, kind in KINDS.items()
    for name in registry.names(kind)
    for loss in registry.get(name, kind).losses
    if loss in LOSSES
]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(seed, n=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ rng.normal(size=3) + 3.0 + 0.1 * rng.normal(size=n)


def fit(Model, loss, X, y, scale=1.0, *, twin="compiled", **settings):
    """Fit to y times `scale`; return the model, and what its objective and gap are in units of."""
    squares = np.isfinite(RESIDUAL_LOSSES[loss].smoothness)
    settings = {"alpha": 0.01 if squares else 0.01 / scale, "random_state": 0} | settings
    model = Model(loss, delta=0.5 * scale, epsilon=0.1 * scale, quantile=0.3, **settings)
    model._twin = twin
    return model.fit(X, scale * y), scale * scale if squares else scale


@pytest.mark.parametrize("scale", [1e-135, 1e-100, 1e-76, 1e-30, 1e76, 1e135])
@pytest.mark.parametrize("Model, solver, loss", [case for case in CASES if case[1] in EXACT[case[0]]])
def test_scaled_targets_scale_the_fit(Model, solver, loss, scale):
    """The sum of slopes, 0 at the best intercept up to rounding, may send its search from 1e-92 to 1 and back."""
    for seed in range(8):
        X, y = problem(seed)
        ours, unit = fit(Model, loss, X, y, scale, solver=solver)
        expected, _ = fit(Model, loss, X, y, solver=solver)
        assert ours.converged_ == expected.converged_
        assert ours.objective_ / unit == pytest.approx(expected.objective_, rel=1e-3)
        np.testing.assert_allclose(ours.predict(X) / scale, expected.predict(X), atol=0.05)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_reference_finds_the_intercept_at_any_scale(loss):
    for seed in (5, 6):
        X, y = problem(seed)
        ours, unit = fit(LinearRegressor, loss, X, y, 1e-76, twin="reference", solver="newton")
        expected, _ = fit(LinearRegressor, loss, X, y, solver="newton")
        assert ours.objective_ / unit == pytest.approx(expected.objective_, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-135, 1e-100, 1e135])
@pytest.mark.parametrize("Model, solver, loss", CASES)
def test_a_gap_at_an_extreme_scale_is_a_bound(Model, solver, loss, scale):
    """Squares of the small steps of ``norma`` underflowed, and its bound was not a number."""
    X, y = problem(0)
    exact = {LinearRegressor: "newton", KernelRegressor: "sdca"}[Model]
    best, _ = fit(Model, loss, X, y, solver=exact, fit_intercept=False, tol=1e-8)
    try:
        ours, unit = fit(Model, loss, X, y, scale, solver=solver, fit_intercept=False, max_iter=2000)
    except ValueError as error:
        assert "scale the targets" in str(error)
    else:
        assert (ours.objective_ - ours.duality_gap_) / unit <= best.objective_ * (1.0 + 1e-6)


@cache
def cold_start(Model, solver, loss, alpha):
    """One fit for all solvers that are compared with it."""
    X, y = problem(0, n=20)
    settings = {"loss": loss, "alpha": alpha, "delta": 0.5, "quantile": 0.3, "random_state": 0}
    return Model(solver=solver, tol=1e-8, **settings).fit(X, y)


@pytest.mark.parametrize("alpha", [1e-3, 10.0])
@pytest.mark.parametrize("Model, solver, loss", CASES)
def test_a_warm_start_from_far_larger_targets_leaves_no_rounding(Model, solver, loss, alpha):
    X, y = problem(0, n=20)
    settings = {"loss": loss, "alpha": alpha, "delta": 0.5, "quantile": 0.3, "random_state": 0}
    ours = Model(solver=solver, warm_start=True, max_iter=500 if solver not in EXACT[Model] else -1, **settings)
    ours.fit(X, 1e12 * y).fit(X, y)
    cold = cold_start(Model, solver if solver in EXACT[Model] else "sdca", loss, alpha)
    assert ours.objective_ - ours.duality_gap_ <= cold.objective_ * (1.0 + 1e-8)


@pytest.mark.parametrize("factor", [1e-3, 1e3, 1e12])
@pytest.mark.parametrize("Model, solver, loss", CASES)
def test_a_warm_start_from_targets_of_another_scale_soon_equals_a_cold_one(Model, solver, loss, factor):
    X, y = problem(0, n=60)
    settings = {"loss": loss, "alpha": 0.1, "delta": 0.5, "quantile": 0.3, "random_state": 0}
    settings["max_iter"] = 600 if solver not in EXACT[Model] else -1
    ours = Model(solver=solver, warm_start=True, **settings).fit(X, factor * y).fit(X, y).fit(X, y)
    cold = Model(solver=solver, **settings).fit(X, y)
    assert ours.objective_ <= 1.2 * cold.objective_


def test_a_warm_start_of_svr_from_far_larger_targets_leaves_no_rounding():
    X, y = problem(0, n=20)
    ours = KernelSVR(loss="squared_epsilon_insensitive", warm_start=True, kernel="linear", C=5e-3)
    ours.fit(X, 1e12 * y).fit(X, y)
    cold = KernelSVR(loss="squared_epsilon_insensitive", kernel="linear", C=5e-3).fit(X, y)
    assert ours.objective_ - ours.duality_gap_ <= cold.objective_ * (1.0 + 1e-8)
