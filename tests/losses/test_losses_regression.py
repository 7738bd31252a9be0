"""Losses of a residual: slopes, conjugates, and the steps of dual coordinate ascent."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernbench.losses.regression import REGRESSION_LOSSES, RESIDUAL_LOSSES, example_loss, regression_loss

PARAMETERS = {"delta": 0.7, "epsilon": 0.3, "quantile": 0.2}
every_loss = pytest.mark.parametrize("loss", [regression_loss(name, **PARAMETERS) for name in RESIDUAL_LOSSES],
                                     ids=lambda loss: loss.name)  # fmt: skip


def kinks(loss):
    ends = (-loss.parameter, loss.parameter)
    return {"quantile": (0.0,), "absolute_error": (0.0,)}.get(loss.name, ends)


@every_loss
def test_slopes_are_derivatives(loss):
    r = np.linspace(-2, 2, 401) + 1e-3
    away = np.min(np.abs(r[:, None] - np.array(kinks(loss))), axis=1) > 1e-4
    difference = (loss.value(r + 1e-6) - loss.value(r - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.slope(r)[away], difference[away], atol=1e-8)


@every_loss
def test_psi_is_minus_the_conjugate_of_minus_a(loss):
    """psi(a) = min_r l(r) + a r, on a fine grid; minus infinity outside the domain."""
    r, far = np.linspace(-8, 8, 160_001), np.array([-40.0, 40.0])
    low, high = max(loss.lower, -3.0), min(loss.upper, 3.0)
    for a in np.linspace(low, high, 21):
        assert loss.dual_value(a) == pytest.approx(np.min(loss.value(r) + a * r), abs=1e-7)
    for a in (loss.lower - 0.1, loss.upper + 0.1):
        if np.isfinite(a):
            assert np.min(loss.value(far) + a * far) < -3.0


@every_loss
@pytest.mark.parametrize("curvature", [0.0, 1e-3, 0.5, 20.0])
def test_a_step_is_the_maximiser(loss, curvature):
    rng = np.random.default_rng(0)
    for _ in range(30):
        a = float(np.clip(rng.normal(), loss.lower, loss.upper))
        r = float(2.0 * rng.normal())

        def value(b, a=a, r=r):
            return -float(loss.dual_value(b) - r * (b - a) - 0.5 * curvature * (b - a) ** 2)

        best = loss.dual_coordinate(a, r, curvature)
        assert loss.lower <= best <= loss.upper
        bounds = (max(loss.lower, a - 50.0), min(loss.upper, a + 50.0))
        found = minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-12})
        assert value(best) <= found.fun + 1e-9
        left, right = loss.dual_slopes(best, r + curvature * (best - a))
        assert left <= 1e-9 and right >= -1e-9


def test_steps_are_the_closed_forms_of_the_literature():
    """Shalev-Shwartz and Zhang, JMLR 2013: with q = k(x, x) / (alpha n), f the output and y the target."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        f, y, q, share = 2 * rng.normal(), 2 * rng.normal(), rng.uniform(0.01, 3.0), rng.uniform(-1, 1)
        tau, eps = 0.2, 0.3
        ends = {"squared_error": 3 * share, "huber": share, "quantile": np.clip(share, tau - 1, tau)}

        def step(name, share=share, f=f, y=y, q=q, ends=ends):
            loss = regression_loss(name, delta=1.0, epsilon=0.3, quantile=0.2)
            a = ends.get(name, share)
            return a, loss.dual_coordinate(a, f - y, q)

        a, found = step("squared_error")
        assert found == pytest.approx(a + (y - f - a) / (1 + q), abs=1e-14)
        a, found = step("huber")
        assert found == pytest.approx(np.clip(a + (y - f - a) / (1 + q), -1, 1), abs=1e-14)
        a, found = step("absolute_error")
        assert found == pytest.approx(np.clip(a + (y - f) / q, -1, 1), abs=1e-13)
        a, found = step("epsilon_insensitive")
        u = a + (y - f) / q
        assert found == pytest.approx(np.clip(np.sign(u) * max(abs(u) - eps / q, 0), -1, 1), abs=1e-13)
        a, found = step("quantile")
        assert found == pytest.approx(np.clip(a + (y - f) / q, -(1 - tau), tau), abs=1e-13)


def test_a_name_stands_for_the_default_parameter():
    assert example_loss("huber").parameter == REGRESSION_LOSSES["huber"].parameter == 1.0
    assert example_loss("epsilon_insensitive").parameter == 0.1
    assert example_loss(regression_loss("quantile", quantile=0.9)).upper == 0.9
    assert example_loss("hinge").name == "hinge"


@pytest.mark.parametrize("settings, message", [
    (("hubber",), "did you mean 'huber'"),
    (("huber", {"delta": 0.0}), "delta must be a positive number"),
    (("quantile", {"quantile": 1.0}), "quantile must be"),
    (("epsilon_insensitive", {"epsilon": -1.0}), "epsilon must be"),
])  # fmt: skip
def test_bad_losses_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        regression_loss(settings[0], **(settings[1] if len(settings) > 1 else {}))
    with pytest.raises(ValueError, match="only, not 'huber'"):
        example_loss("huber", offered=("hinge",))
