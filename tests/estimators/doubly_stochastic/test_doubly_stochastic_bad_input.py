"""Doubly stochastic models: bad input, and parameters that are set after a fit."""

import pickle

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, SMALL, TARGETS, X, fresh
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
    load,
)
from kernbench.kernels import Precomputed

# Models of these tests are small, and some have no window.
pytestmark = pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")


@pytest.mark.parametrize(
    "model, message",
    [
        (DoublyStochasticClassifier(kernel="sigmoid"), "no random features of kernel='sigmoid'"),
        (DoublyStochasticClassifier(kernel=lambda A, B: A @ B.T), "no random features"),
        (DoublyStochasticClassifier(kernel=Precomputed()), "no random features of Precomputed"),
        (DoublyStochasticClassifier(block_size=2000), "block_size=2000 is larger than batch_size=1024"),
        (DoublyStochasticClassifier(loss="huber"), "unknown loss|minimises loss="),
        (DoublyStochasticClassifier(block_size=15, solver_options={"form": "pair"}), "multiple of 2"),
        (DoublyStochasticClassifier(schedule="fast"), "unknown schedule"),
        (DoublyStochasticDensityRatio(solver_options={"average_from": 5}), "average_from=5 .* choose average='tail'"),
        (DoublyStochasticGPRegressor(average="all", solver_options={"average_from": 5}), "choose average='tail'"),
        (DoublyStochasticClassifier(step_size=1e9, precondition=False, loss="squared_hinge"), "step_size=.*diverges"),
        (DoublyStochasticNoveltyDetector(nu=0.0), "nu must be"),
        (DoublyStochasticNoveltyDetector(nu=1.0), "nu must be"),
        (DoublyStochasticRegressor(quantile=2, loss="quantile"), "quantile must be"),
        (DoublyStochasticGPRegressor(noise_variance=0), "noise_variance must be"),
        (DoublyStochasticGPRegressor(std="pints"), "unknown std 'pints'; did you mean 'points'"),
        (DoublyStochasticGPRegressor(std="points"), "needs the points"),
        (DoublyStochasticGPRegressor(std="operator", max_blocks=None), "std='operator' needs max_blocks"),
        (
            DoublyStochasticGPRegressor(std="operator", block_size=200, max_blocks=100),
            "100 blocks of 200 features takes 7,629 MB, more than cache_size=500",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else type(value).__name__,
)
def test_bad_parameters_say_what_would_be_right(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, TARGETS if "Regressor" in type(model).__name__ else LABELS)


def test_a_gaussian_process_of_one_batch_accepts_average_from():
    """It takes the last iterate, and averages a tail of more batches."""
    model = DoublyStochasticGPRegressor(random_state=0).fit(X, TARGETS)
    given = clone(model).set_params(solver_options={"average_from": 5}).fit(X, TARGETS)
    np.testing.assert_array_equal(given.block_coef_, model.block_coef_)


def test_standard_deviations_need_a_way():
    model = DoublyStochasticGPRegressor(random_state=0).fit(X, TARGETS)
    with pytest.raises(NotFittedError):
        DoublyStochasticGPRegressor().predict(X, return_std=True)
    with pytest.raises(ValueError, match="return_std=True needs std='operator', or std='points'"):
        model.predict(X, return_std=True)
    model = DoublyStochasticGPRegressor(std="points", random_state=0).fit(X, TARGETS, points=X[:3])
    with pytest.raises(ValueError, match="points given to fit only"):
        model.predict(X[:2], return_std=True)
    std = model.predict(X[:3], return_std=True)[1]
    before = std.copy()
    std[:] = 0.0  # an array of the caller's own
    np.testing.assert_array_equal(model.predict(X[:3], return_std=True)[1], before)


def test_a_std_set_after_fit_does_not_damage_the_file(tmp_path):
    model = DoublyStochasticGPRegressor(max_iter=4, random_state=0).fit(X, TARGETS)
    for std in ("points", "operator"):
        model.set_params(std=std).save(tmp_path / "model.npz")
        np.testing.assert_array_equal(load(tmp_path / "model.npz").predict(X), model.predict(X))


@pytest.mark.filterwarnings("ignore:.*partial_fit learns")
def test_standard_deviations_are_those_of_the_last_fit():
    """Those of an earlier one, with another `std`, were returned once `std` was set back."""
    settings = {"batch_size": 100, "block_size": 50, "max_iter": 4, "random_state": 0}
    model = DoublyStochasticGPRegressor(**settings).fit(X, TARGETS).set_params(std="points")
    with pytest.raises(ValueError, match="nor from one without points: fit it again"):
        model.partial_fit(X, TARGETS)
    model.fit(X, TARGETS, points=X[:3])
    for other in (None, "operator"):
        model.set_params(std=other).partial_fit(X, TARGETS)
        assert not hasattr(model, "points_") and hasattr(model, "operator_coef_") == (other == "operator")
        model.set_params(std="points")
        with pytest.raises(ValueError, match="return_std=True needs"):
            model.predict(X[:3], return_std=True)
        with pytest.raises(ValueError, match="fit it again"):
            model.partial_fit(X, TARGETS)


def test_targets_must_be_numbers():
    with pytest.raises(ValueError, match="y must be numbers|could not convert"):
        DoublyStochasticRegressor().fit(X, LABELS)
    with pytest.raises(ValueError, match="y holds NaN or infinity"):
        DoublyStochasticRegressor().fit_chunks([(X[:3], np.array([0.0, np.inf, 1.0]))])


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("size", [1e42, 1e-60])
@pytest.mark.parametrize(
    ("model", "learn", "n_rows"),
    [(DoublyStochasticGPRegressor, "fit", 2_100), (DoublyStochasticRegressor, "partial_fit", 1_000)],
)
def test_coefficients_outside_the_range_of_float32_are_refused(model, learn, n_rows, size):
    """Predictions were NaN, or all 0."""
    V = np.random.default_rng(0).normal(size=(n_rows, 2))
    y = V[:, 0]
    model = model(kernel="linear", block_size=16, random_state=0)
    expected = getattr(model, learn)(V, y).predict(V)
    refused = clone(model)
    with pytest.raises(ValueError, match=r"too (large|small) for float32: scale y .* use dtype='float64'"):
        getattr(refused, learn)(V, size * y)
    assert not hasattr(refused, "block_coef_") and not hasattr(refused, "n_iter_")
    wide = getattr(clone(model).set_params(dtype="float64"), learn)(V, size * y)
    np.testing.assert_allclose(wide.predict(V) / size, expected, atol=1e-3)


def test_a_warm_start_on_other_rows_takes_no_steps_on_the_old_ones():
    """The window of the preconditioner holds the last rows of the fit before, which partial_fit goes on with."""
    model = DoublyStochasticClassifier(gamma=2.0, batch_size=16, max_iter=8, warm_start=True, random_state=0)
    model.fit(X, LABELS)
    without = pickle.loads(pickle.dumps(model))
    state = without._progress.solution.state
    assert any(name.startswith("recent_") for name in state)
    for name in [name for name in state if name.startswith("recent_")]:
        del state[name]
    same = pickle.loads(pickle.dumps(model))
    others = X[::-1] + 0.1
    for one in (model, without):
        one.set_params(max_iter=3).fit(others, LABELS[::-1])
    np.testing.assert_array_equal(model.block_coef_, without.block_coef_)
    same.set_params(max_iter=3).fit(X, LABELS)  # its own rows
    assert any(name.startswith("recent_") for name in same._progress.solution.state)


def test_a_target_set_after_fit_does_not_change_the_ratio():
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(2, 200, 2))
    model = DoublyStochasticDensityRatio(random_state=0).fit(P + 0.5, Q)
    expected = model.log_ratio(P), model.ratio(P)
    model.set_params(target="ratio" if model.target == "log_ratio" else "log_ratio")
    np.testing.assert_array_equal([model.log_ratio(P), model.ratio(P)], expected)


def test_ratios_are_at_least_the_floor():
    model, data, _ = fresh("relative")
    model.fit(*data)
    model.block_coef_ *= 0.0
    np.testing.assert_allclose(model.log_ratio(X), np.log(0.2))


def test_the_loss_of_validation_rows_is_that_of_the_fit():
    model = DoublyStochasticRegressor(loss="huber", delta=0.01, **SMALL).fit(X, TARGETS, X_val=X, y_val=TARGETS)
    errors = np.abs(model.predict(X) - TARGETS)
    loss = np.where(errors < 0.01, 0.5 * errors**2, 0.01 * (errors - 0.005)).mean()
    assert model.trace_["validation_loss"][-1] == pytest.approx(loss, rel=1e-6)
