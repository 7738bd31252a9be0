"""Batches and blocks that are chosen from the number of rows."""

import warnings

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, MODELS, TARGETS, X, every_model, fresh

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticRegressor,
)
from kernbench.estimators.doubly_stochastic import parameters
from kernbench.solvers import registry


@pytest.mark.parametrize("n_rows", [50_000, 60_000, 65_535, 522_911, 10**6 + 1])
def test_large_batches_leave_no_small_rest(n_rows):
    model = DoublyStochasticClassifier()
    rows = parameters.batch_size_of(model, n_rows)
    assert 3600 < rows < 4400
    assert (n_rows - 1) % rows + 1 > 0.9 * rows
    block = parameters.block_size_of(model, n_rows)
    assert block % 2 == 0 and rows - 8 < 4 * block <= rows
    assert parameters.batch_size_of(model, n_rows, block) == rows
    assert parameters.batch_size_of(model, np.inf, block) == 4 * block


@pytest.mark.parametrize("settings", [{}, {"precondition": False}, {"batch_size": 1024}])
def test_batches_are_small_for_few_rows_streams_and_algorithm_1(settings):
    model = DoublyStochasticClassifier(**settings)
    model.classes_ = [0, 1]
    for n_rows in (49_999, np.inf, *([10**6] if settings else [])):
        assert parameters.batch_size_of(model, n_rows) == 1024
        assert parameters.block_size_of(model, n_rows) == 256
        assert parameters.steps_of(model, n_rows) == (
            (1.0, "bounded") if "precondition" in settings else (0.3, "published")
        )
        assert model._fewest_steps(n_rows) == 100 == registry.get("doubly-sgd").default_iterations


@pytest.mark.parametrize(
    "settings, n_rows, window",
    [
        ({}, 32_561, 0),  # 1,024 rows for 256 features
        ({}, np.inf, 0),
        ({}, 500, 0),
        ({}, 522_911, 0),
        ({"batch_size": 64, "block_size": 32}, 32_561, 1024),
        ({"batch_size": 64, "block_size": 32}, np.inf, 1024),
        ({"batch_size": 64, "block_size": 32}, 500, 500),
        ({"batch_size": 64, "block_size": 32}, 64, 0),  # there are no other rows
        ({"batch_size": 64, "block_size": 32, "precondition": False}, 32_561, 0),
        ({"batch_size": 1024, "block_size": 512}, 32_561, 2048),
        ({"batch_size": 4096, "block_size": 1024}, 32_561, 0),
    ],
)
def test_small_batches_are_learned_from_with_the_rows_before_them(settings, n_rows, window):
    for estimator in (DoublyStochasticClassifier, DoublyStochasticRegressor):
        model = estimator(**{"batch_size": 1024, **settings} if n_rows < 522_911 else settings)
        block_size = parameters.block_size_of(model, n_rows)
        batch_size = parameters.batch_size_of(model, n_rows)
        assert parameters.window_of(model, n_rows, batch_size, block_size) == window


@pytest.mark.parametrize(
    ("batch_size", "n_rows", "steps"),
    [(64, 20_000, 1600), (256, 20_000, 400), (2048, 20_000, 100), (64, 300, 469), (1, 10**6, 1600)],
)
def test_small_batches_visit_the_rows_that_large_ones_do(batch_size, n_rows, steps):
    for model in (DoublyStochasticClassifier(batch_size=batch_size), DoublyStochasticRegressor(batch_size=batch_size)):
        assert model._fewest_steps(n_rows) == steps
        assert model.set_params(precondition=False)._fewest_steps(n_rows) == 100
    ratio = DoublyStochasticDensityRatio(batch_size=batch_size)
    assert ratio._fewest_steps(n_rows) == 100 and ratio.set_params(target="ratio")._fewest_steps(n_rows) == steps
    full = parameters.full_steps_of(DoublyStochasticClassifier(batch_size=batch_size), n_rows, 7)
    assert full == steps and parameters.full_steps_of(DoublyStochasticRegressor(), n_rows, 7) == 0


@pytest.mark.filterwarnings("ignore:.*steps of 64 rows are so noisy")
def test_small_batches_err_no_more_than_large_ones():
    """Two rows a feature, with labels of which a tenth are flipped; without a window the noise of the steps adds up."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(5000, 8))
    labels = np.where((Z[:, 0] + Z[:, 1] * Z[:, 2] > 0) ^ (rng.random(5000) < 0.1), 1, -1)
    train, test = (Z[:4000], labels[:4000]), (Z[4000:], labels[4000:])
    small = {"batch_size": 64, "block_size": 32, "random_state": 0, "max_iter": 100}
    errors = {
        name: 1 - DoublyStochasticClassifier(**settings).fit(*train).score(*test)
        for name, settings in {
            "default": {"random_state": 0, "max_iter": 4},
            "small": small,
            "alone": {**small, "solver_options": {"window": 0}},
        }.items()
    }
    assert errors["small"] <= errors["default"] + 0.003
    assert errors["alone"] > errors["small"] + 0.02


@pytest.mark.parametrize("estimator", [DoublyStochasticRegressor, DoublyStochasticGPRegressor])
def test_small_batches_of_a_regression_are_learned_from_as_well(estimator):
    """Its error is a multiple of that of large batches without a window, and near it with one."""
    rng = np.random.default_rng(0)
    U = rng.uniform(-2, 2, (3000, 2))
    truth = np.sin(2 * U[:, 0]) * U[:, 1]
    y = truth + 0.3 * rng.normal(size=3000)
    settings = {"gamma": 0.5, "random_state": 0, "max_iter": 47}  # a pass of the small batches
    if estimator is DoublyStochasticGPRegressor:
        settings["max_blocks"] = None

    def error(**more):
        return np.mean((estimator(**settings | more).fit(U, y).predict(U) - truth) ** 2)

    large = error(batch_size=1024, block_size=32)
    small = {"batch_size": 64, "block_size": 32}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert error(**small, solver_options={"window": 0}) > 3 * large
    assert error(**small) < 2 * large


@every_model
def test_defaults_are_silent_and_so_are_small_batches_on_a_window(name):
    model, data, _ = fresh(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        type(model)().set_params(random_state=0, max_iter=2).fit(*data)
        if name != "ratio":  # whose log_ratio has no window
            model.fit(*data)


@pytest.mark.parametrize(
    "model, data",
    [
        (DoublyStochasticClassifier(solver_options={"window": 0}), (X, LABELS)),
        (DoublyStochasticRegressor(solver_options={"window": 0}), (X, TARGETS)),
        (DoublyStochasticGPRegressor(std="operator"), (X, TARGETS)),
        (DoublyStochasticDensityRatio(), MODELS["ratio"][1]),
    ],
)
def test_preconditioned_steps_on_few_rows_are_warned_about(model, data):
    model = model.set_params(batch_size=64, block_size=16, max_iter=3, random_state=0)
    with pytest.warns(UserWarning, match="steps of 64 rows are so noisy.* Raise batch_size to 1024, or to the number"):
        model.fit(*data)
    model.set_params(batch_size=400, max_iter=1)  # all rows
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(*data)
        model.set_params(batch_size=64, precondition=False, step_size=0.1).fit(*data)


def test_steps_get_shorter_after_the_first_pass():
    """Up to there they are those of ``schedule="published"``, bit for bit; and so they are in a stream."""
    settings = {"batch_size": 320, "block_size": 8, "random_state": 0}
    for n_steps, is_same in ((100, True), (101, False)):
        found, published = (
            DoublyStochasticClassifier(max_iter=n_steps, schedule=name, **settings).fit(X[:320], LABELS[:320])
            for name in ("auto", "published")
        )
        assert np.array_equal(found.block_coef_, published.block_coef_) == is_same
    other = DoublyStochasticClassifier(max_iter=101, solver_options={"t0": 7.0}, **settings).fit(X[:320], LABELS[:320])
    np.testing.assert_array_equal(other.block_coef_, published.block_coef_)


def test_the_steps_of_few_large_batches_are_longer():
    model = DoublyStochasticClassifier()
    model.classes_ = [0, 1]
    lengths = [parameters.steps_of(model, n_rows)[0] for n_rows in (50_000, 204_800, 10**6)]
    np.testing.assert_allclose(lengths, [0.9, 0.6, 0.3])


def test_a_fit_of_large_batches_is_one_pass_and_goes_on(monkeypatch):
    for name, value in {"BATCH": 16, "LARGE_BATCH": 128, "MANY_ROWS": 400}.items():
        monkeypatch.setattr(parameters, name, value)
    assert len(X) >= 400
    model = DoublyStochasticClassifier(random_state=0, warm_start=True, max_iter=2).fit(X, LABELS)
    few, rows = model.block_coef_.shape[1], parameters.batch_size_of(model, len(X))
    assert few == rows // 8 * 2 > parameters.BATCH
    model.fit(X, LABELS)
    once = DoublyStochasticClassifier(random_state=0, max_iter=4).fit(X, LABELS)
    np.testing.assert_array_equal(model.block_coef_, once.block_coef_)  # the same batches
    whole = DoublyStochasticClassifier(random_state=0).fit(X, LABELS)
    assert whole.n_iter_ == [-(-len(X) // rows)]
    whole.partial_fit(X[: 4 * few], LABELS[: 4 * few])
    assert whole.block_coef_.shape[1] == few and whole.n_iter_ == [-(-len(X) // rows) + 1]


def test_blocks_may_have_as_many_features_as_the_batch_of_the_run_has_rows(monkeypatch):
    """They were compared with a small batch, whatever the number of rows."""
    for name, value in {"BATCH": 16, "LARGE_BATCH": 128, "MANY_ROWS": 400}.items():
        monkeypatch.setattr(parameters, name, value)
    rows = parameters.batch_size_of(DoublyStochasticClassifier(), len(X))
    assert parameters.BATCH < rows < len(X)
    model = DoublyStochasticClassifier(block_size=rows, damping=1e-2, max_iter=2, random_state=0).fit(X, LABELS)
    assert model.block_coef_.shape[1] == rows
    assert model.partial_fit(X, LABELS).n_iter_ == [3]  # of four rows for each feature
    model.set_params(block_size=rows + 1)
    with pytest.raises(ValueError, match=f"block_size={rows + 1} is larger than batch_size={rows}"):
        model.fit(X, LABELS)
    for learn in (model.partial_fit, lambda X, y: model.fit_chunks([(X, y)])):
        with pytest.raises(ValueError, match=f"block_size={rows + 1} is larger than batch_size=16"):
            learn(X, LABELS)
    assert model.n_iter_ == [3]
    model.set_params(block_size=16).fit(X[:10], LABELS[:10])  # in one batch
