import numpy as np
import pytest

from kernbench.losses.regression import REGRESSION_LOSSES, regression_loss

every_loss = pytest.mark.parametrize("loss", REGRESSION_LOSSES.values(), ids=lambda loss: loss.name)


@every_loss
def test_slope_is_the_derivative(loss):
    r = np.concatenate([np.linspace(-3.03, 2.97, 61), [0.05, -0.05]])
    step = 1e-6
    numerical = (loss.value(r + step) - loss.value(r - step)) / (2 * step)
    np.testing.assert_allclose(loss.slope(r), numerical, atol=1e-8)


@every_loss
def test_losses_are_convex_even_and_rise_with_the_size(loss):
    r = np.linspace(-3, 3, 601)
    values = loss.value(r)
    np.testing.assert_allclose(values, values[::-1], atol=1e-12)
    assert np.all(np.diff(values, 2) >= -1e-12) and np.all(np.diff(values[300:]) >= 0)
    assert loss.value(np.zeros(1)) == 0 and loss.slope(np.zeros(1)) == 0


def test_worked_values():
    r = np.array([-2.0, 0.05, 0.5, 2.0])
    expected = {
        "squared_error": [2, 0.00125, 0.125, 2], "absolute_error": [2, 0.05, 0.5, 2],
        "huber": [1.5, 0.00125, 0.125, 1.5], "epsilon_insensitive": [1.9, 0, 0.4, 1.9],
    }  # fmt: skip
    assert set(expected) == set(REGRESSION_LOSSES)
    for name, values in expected.items():
        np.testing.assert_allclose(regression_loss(name).value(r), values, rtol=1e-14)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="did you mean 'huber'"):
        regression_loss("hubert")
