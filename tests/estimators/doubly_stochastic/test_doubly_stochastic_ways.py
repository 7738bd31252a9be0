"""Doubly stochastic models are the same from files and frames, in threads, in parts and in one fit."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, SMALL, TARGETS, X, every_model, fresh, of
from scipy import sparse

from kernbench import DoublyStochasticClassifier, DoublyStochasticGPRegressor, DoublyStochasticRegressor, load

# Models of these tests are small, and some have no window.
pytestmark = pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")


@every_model
def test_saved_is_live(name, tmp_path):
    model, data, method = fresh(name)
    model.fit(*data).save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    for rows in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        np.testing.assert_array_equal(of(again, method)(rows), of(model, method)(rows))
    for attribute in ("objective_", "n_iter_", "seed_", "kernel_", "trace_", "n_feature_values_"):
        assert getattr(again, attribute) == getattr(model, attribute)
    again.partial_fit(*data)  # goes on from the coefficients
    assert again.n_iter_ > model.n_iter_ and again.seed_ == model.seed_


@pytest.mark.parametrize(
    "change",
    [{}, {"gamma": 4.0}, {"kernel": "laplacian"}, {"loss": "huber"}, {"solver_options": {"form": "phase"}}],
    ids=str,
)
def test_a_model_of_a_file_starts_anew_with_other_features_or_another_loss(change, tmp_path):
    settings = {"gamma": 1.0, **SMALL}
    model = DoublyStochasticRegressor(**settings).fit(X, TARGETS)
    model.save(tmp_path / "model.npz")
    again = load(tmp_path / "model.npz").set_params(**change).partial_fit(X, TARGETS)
    anew = DoublyStochasticRegressor(**settings | change).partial_fit(X, TARGETS)
    assert again.n_iter_ == anew.n_iter_ + (0 if change else model.n_iter_)
    assert np.array_equal(again.block_coef_, anew.block_coef_) == bool(change)


def test_parameters_that_are_set_after_the_fit_do_not_damage_the_file(tmp_path):
    model = DoublyStochasticGPRegressor(**SMALL).fit(X, TARGETS).set_params(noise_variance="low")
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load(tmp_path / "model.npz").predict(X), model.predict(X))


def test_saved_in_one_process_is_the_same_in_another_with_two_threads(tmp_path):
    rng = np.random.default_rng(0)
    V = rng.normal(size=(3000, 10)).astype(np.float32)
    model = DoublyStochasticClassifier(random_state=0, max_iter=10).fit(V, V[:, 0] > 0)
    model.save(tmp_path / "model.npz")
    np.save(tmp_path / "rows.npy", V)
    code = """import numpy as np, kernbench
np.save("f.npy", kernbench.load("model.npz").decision_function(np.load("rows.npy")))"""
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "f.npy"), model.decision_function(V))
    assert (tmp_path / "model.npz").stat().st_size < 300_000


@pytest.mark.parametrize("name", ["classifier", "classes", "paper", "regressor", "novelty"])
@pytest.mark.parametrize("parts", [(7, 23), (6, 12, 12)])
def test_fits_with_warm_start_are_one_long_fit(name, parts):
    """Bit for bit, through several passes."""
    whole, data, method = fresh(name)
    whole.fit(*data)
    pieces, _, _ = fresh(name, warm_start=True)
    for count in parts:
        pieces.set_params(max_iter=count).fit(*data)
    np.testing.assert_array_equal(pieces.block_coef_, whole.block_coef_)
    assert pieces.n_iter_ == whole.n_iter_ == [30] and pieces.objective_ == whole.objective_


def test_a_warm_start_on_other_rows_keeps_the_coefficients():
    model = DoublyStochasticClassifier(warm_start=True, **SMALL).fit(X, LABELS)
    before = model.block_coef_[0].copy(), model.kernel_
    model.set_params(max_iter=1).fit(X[:300] + 0.01, LABELS[:300])
    np.testing.assert_array_equal(model.block_coef_[0], before[0])
    assert model.kernel_ == before[1] and model.n_iter_ == [31]
    model.set_params(gamma=3.0).fit(X, LABELS)  # other features: afresh
    assert model.n_iter_ == [1]


def test_data_frames_come_in_alike():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b"])
    plain, framed = (DoublyStochasticClassifier(**SMALL).fit(rows, LABELS) for rows in (X, frame))
    np.testing.assert_array_equal(framed.decision_function(frame), plain.decision_function(X))
    assert list(framed.feature_names_in_) == ["a", "b"]
    chunks = [[(rows[:250], LABELS[:250]), (rows[250:], LABELS[250:])] for rows in (X, frame)]
    plain, framed = (DoublyStochasticClassifier(**SMALL).fit_chunks(both) for both in chunks)
    np.testing.assert_array_equal(framed.block_coef_, plain.block_coef_)


def test_callbacks_see_a_fitted_model_and_may_stop():
    def stop(model):
        return (
            True if model.n_iter_[0] >= 3 else {"coefficients": model.block_coef_.size, "score": model.score(X, LABELS)}
        )

    model = DoublyStochasticClassifier(callback=stop, **{**SMALL, "max_iter": 10**6}).fit(X, LABELS)
    assert model.status_ == "callback" and "score" in model.trace_


@pytest.mark.parametrize("std", ["points", "operator"])
def test_callbacks_see_standard_deviations(std):
    points, seen = X[:3], []
    model = DoublyStochasticGPRegressor(
        std=std,
        batch_size=100,
        block_size=50,
        max_iter=4,
        random_state=0,
        callback=lambda model: seen.append((model.n_samples_, *model.predict(points, return_std=True))),
    ).fit(X, TARGETS, points=points if std == "points" else None)
    assert len(seen) >= 2
    n_samples, mean, deviation = seen[-1]
    assert n_samples == 400
    np.testing.assert_array_equal([mean, deviation], model.predict(points, return_std=True))


def test_fits_in_threads_do_not_disturb_each_other():
    def coefficients(seed):
        model = DoublyStochasticGPRegressor(std="operator", block_size=40, random_state=seed).fit(X, TARGETS)
        return model.block_coef_, model.operator_coef_

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(coefficients, range(8)))
    for seed, parts in enumerate(found):
        for part, alone in zip(parts, coefficients(seed), strict=True):
            np.testing.assert_array_equal(part, alone)


@pytest.mark.parametrize("module", ["polars", "pyarrow"])
def test_frames_of_other_packages_come_in_alike(module):
    package = pytest.importorskip(module)
    make = package.DataFrame if module == "polars" else package.table
    frame = make({"a": X[:, 0], "b": X[:, 1]})
    model = DoublyStochasticClassifier(**SMALL).fit(frame, LABELS)
    plain = DoublyStochasticClassifier(**SMALL).fit(X, LABELS)
    np.testing.assert_array_equal(model.decision_function(frame), plain.decision_function(X))
    model, plain = (DoublyStochasticClassifier(**SMALL).fit_chunks([(rows, LABELS)]) for rows in (frame, X))
    np.testing.assert_array_equal(model.block_coef_, plain.block_coef_)
