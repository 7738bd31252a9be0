"""The losses of an output: worked values, slopes against finite differences, C against NumPy."""

import numpy as np
import pytest

from kernbench.losses._output import values_and_slopes
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.output import LARGEST_EXPONENT, OUTPUT_LOSSES, output_loss

OF_LABELS = ("hinge", "squared_hinge", "log_loss", "density_ratio", "truncated_ratio")
every_loss = pytest.mark.parametrize("name", OUTPUT_LOSSES)


def problem(name, seed=0, n=60, n_outputs=3):
    """Outputs and labels of any loss, away from kinks."""
    rng = np.random.default_rng(seed)
    U = rng.normal(scale=2.0, size=(n, n_outputs))
    if name == "softmax":
        return U, rng.integers(0, n_outputs, size=n).astype(float)
    if name in OF_LABELS:
        return U, rng.choice([-1.0, 1.0], size=n)
    return U, rng.normal(size=(n, n_outputs))


def made(name):
    loss = output_loss(name, delta=0.7, epsilon=0.3, quantile=0.2, floor=0.5)
    if name == "novelty":
        loss.parameter = 0.4
    return loss


@every_loss
def test_slope_matches_finite_difference(name):
    loss, step = made(name), 1e-6
    U, y = problem(name)
    slopes = loss.slope(U, y)
    for c in range(U.shape[1]):
        move = np.zeros(U.shape[1])
        move[c] = step
        numerical = (loss.value(U + move, y) - loss.value(U - move, y)) / (2 * step)
        np.testing.assert_allclose(slopes[:, c], numerical, atol=1e-7)


@every_loss
def test_compiled_losses_are_the_numpy_ones(name):
    loss = made(name)
    for seed, n_outputs in ((1, 1), (2, 3), (3, 10)):
        if name == "softmax" and n_outputs == 1:
            continue
        U, y = problem(name, seed, n_outputs=n_outputs)
        values, slopes = values_and_slopes(loss, U, None if name == "novelty" else y)
        np.testing.assert_allclose(values, loss.value(U, y), rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(slopes, loss.slope(U, y), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    "name, u, y, value, slope",
    [
        ("hinge", 0.5, 1, 0.5, -1),
        ("hinge", 1.0, 1, 0.0, 0),
        ("squared_hinge", 0.5, -1, 2.25, 3.0),  # (1 + u)^2: no factor 1/2
        ("log_loss", 0.0, 1, np.log(2), -0.5),
        ("squared_error", 3.0, 1.0, 2.0, 2.0),
        ("huber", 3.0, 1.0, 0.7 * (2 - 0.35), 0.7),
        ("huber", 1.5, 1.0, 0.125, 0.5),
        ("epsilon_insensitive", 1.2, 1.0, 0.0, 0.0),
        ("epsilon_insensitive", 0.5, 1.0, 0.2, -1.0),
        ("absolute_error", 1.0, 1.0, 0.0, 0.0),
        ("quantile", 2.0, 1.0, 0.8, 0.8),
        ("quantile", 0.0, 1.0, 0.2, -0.2),
        ("quantile", 1.0, 1.0, 0.0, 0.8),
        ("novelty", 0.1, 0.0, 0.3, -1.0),
        ("novelty", 0.4, 0.0, 0.0, 0.0),
        ("density_ratio", 1.0, -1, np.e, np.e),
        ("density_ratio", 1.0, 1, -1.0, -1.0),
        ("truncated_ratio", 2.0, -1, 2.0, 1.0),
        ("truncated_ratio", -2.0, -1, 0.0, 0.0),
        ("truncated_ratio", 2.0, 1, -np.log(2), -0.5),
        ("truncated_ratio", -0.5, 1, 2.0 + np.log(2), -2.0),  # the tangent at 0.5: log 2 - 2 (u - 0.5)
    ],
)
def test_worked_values(name, u, y, value, slope):
    loss, U, labels = made(name), np.array([[float(u)]]), np.array([float(y)])
    for found in ((loss.value(U, labels), loss.slope(U, labels)), values_and_slopes(loss, U, labels)):
        assert found[0][0] == pytest.approx(value, abs=1e-12)
        assert found[1][0, 0] == pytest.approx(slope, abs=1e-12)


@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_losses_of_a_margin_are_those_of_the_support_vector_machine(name):
    U, y = problem(name, n_outputs=1)
    np.testing.assert_array_equal(output_loss(name).value(U, y), MARGIN_LOSSES[name].value(y * U[:, 0]))


def test_softmax_of_two_outputs_is_the_logistic_loss():
    U, y = problem("softmax", n_outputs=2)
    margins = np.where(y == 1, 1.0, -1.0) * (U[:, 1] - U[:, 0])
    np.testing.assert_allclose(output_loss("softmax").value(U, y), np.logaddexp(0, -margins), atol=1e-13)


@pytest.mark.parametrize("name", ["log_loss", "softmax", "density_ratio", "truncated_ratio"])
def test_extreme_outputs_do_not_overflow(name):
    loss = made(name)
    U = np.array([[-1e300, 1e300], [800.0, -800.0], [0.0, 1e6]])
    y = np.array([1.0, 0.0, 1.0]) if name == "softmax" else np.array([1.0, -1.0, -1.0])
    with np.errstate(over="raise", invalid="raise"):
        values, slopes = loss.value(U, y), loss.slope(U, y)
        ours = values_and_slopes(loss, U, y)
    assert np.all(np.isfinite(values)) and np.all(np.isfinite(slopes))
    np.testing.assert_allclose(ours[0], values, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(ours[1], slopes, rtol=1e-12, atol=1e-300)


def test_the_exponent_of_the_density_ratio_is_clipped():
    loss = made("density_ratio")
    assert loss.value(np.array([[1e3]]), np.array([-1.0]))[0] == np.exp(LARGEST_EXPONENT)


def test_labels_of_softmax_out_of_range_are_refused():
    with pytest.raises(ValueError, match="whole numbers from 0 to 2"):
        values_and_slopes(output_loss("softmax"), np.zeros((2, 3)), np.array([0.0, 3.0]))


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"name": "hindge"}, "unknown loss 'hindge'; did you mean 'hinge'"),
        ({"name": "huber", "delta": 0}, "delta must be a positive number"),
        ({"name": "quantile", "quantile": 1.0}, "quantile must be .* below 1, got 1.0"),
        ({"name": "epsilon_insensitive", "epsilon": -1}, "epsilon must be .* at least 0"),
        ({"name": "hinge", "offered": ("huber",)}, "minimises loss='huber' only, not 'hinge'"),
    ],
)
def test_bad_losses_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        output_loss(**settings)


def test_parameters_belong_to_losses_with_bounds():
    for loss in OUTPUT_LOSSES.values():
        assert (loss.bounds is None) == (loss.parameter_name is None)
