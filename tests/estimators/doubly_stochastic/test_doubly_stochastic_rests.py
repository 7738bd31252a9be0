"""Batches of few rows: the rest of a pass, calls of partial_fit, and what a warm start takes from an earlier fit."""

import numpy as np
import pytest

import kernbench
from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
    KernelSVC,
)
from kernbench.distributed import Distributed
from kernbench.estimators.doubly_stochastic.parameters import batch_size_of
from kernbench.kernels import Gaussian
from kernbench.problems.streaming.averages import Averages


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    ("n_rows", "expected"),
    [(1000, 1024), (1024, 1024), (1030, 1030), (1279, 1279), (1281, 1024), (2054, 1027), (34_824, 1025),
     (32_561, 1024), (np.inf, 1024)],
)  # fmt: skip
def test_a_small_rest_of_a_pass_is_spread_over_its_batches(n_rows, expected):
    assert batch_size_of(DoublyStochasticClassifier(), n_rows) == expected


def test_one_rest_among_many_batches_stays():
    model = DoublyStochasticClassifier(batch_size=64)
    assert batch_size_of(model, 64 * 500 + 3) == 64 and batch_size_of(model, 64 * 10 + 3) == 65


def test_a_gaussian_process_does_not_solve_for_a_few_rows_alone():
    """A batch of one row beside one of 256 would halve the mean: a step has the same length for both."""
    X, y = rows(257)
    settings = {"gamma": 1.0, "noise_variance": 0.01, "std": "points", "random_state": 0}
    ours = DoublyStochasticGPRegressor(batch_size=256, **settings).fit(X, y, points=X[:5])
    whole = DoublyStochasticGPRegressor(batch_size=257, **settings).fit(X, y, points=X[:5])
    for mine, theirs in zip(ours.predict(X[:5], return_std=True), whole.predict(X[:5], return_std=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    X, y = rows(2 * 256 + 20)
    ours = DoublyStochasticGPRegressor(batch_size=256, **settings).fit(X, y, points=X[:5])
    whole = DoublyStochasticGPRegressor(batch_size=len(X), **settings).fit(X, y, points=X[:5])
    assert np.sqrt(np.mean((ours.predict(X) - whole.predict(X)) ** 2)) < 0.1 * whole.predict(X).std()


def test_labels_of_a_few_rows_more_than_a_batch_are_learned_as_well():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_030, 4))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, 1, -1)
    noisy = np.where(rng.random(len(y)) < 0.1, -y, y)
    errors = [
        1 - DoublyStochasticClassifier(random_state=0).fit(X[:n], noisy[:n]).score(X[1_030:], y[1_030:])
        for n in (1_024, 1_030)
    ]
    assert errors[1] < errors[0] + 0.01


@pytest.mark.parametrize("n_steps", [1, 2, 3, 4, 5, 8, 13])
def test_a_tail_leaves_the_first_iterate_out(n_steps):
    iterates = np.arange(float(n_steps + 1))[:, None]  # before each step, and the last one
    averages = Averages("tail")
    for t in range(1, n_steps + 1):
        averages.add(iterates[t - 1], t)
    last = int(np.log2(n_steps))
    begin = max(2, 2 ** max(0, last - 1))
    averaged = iterates[begin - 1 : n_steps] if n_steps > 1 else iterates[1:]
    np.testing.assert_allclose(averages.of(iterates[-1]), averaged.mean(axis=0))


def test_the_first_chunk_of_a_stream_is_learned_as_a_whole():
    X, y = rows(1_500)
    settings = {"gamma": 1.0, "noise_variance": 0.01, "batch_size": 1_024, "random_state": 0}
    model = DoublyStochasticGPRegressor(**settings).fit_chunks([(X, y)])
    assert np.sum(model.predict(X) * y) / np.sum(y**2) > 0.8


@pytest.mark.parametrize("settings", [{}, {"precondition": False}, {"dtype": "float32"}], ids=str)
def test_a_warm_start_from_far_larger_targets_is_a_cold_start(settings):
    X, y = rows(300)
    warm = DoublyStochasticRegressor(max_iter=5, warm_start=True, random_state=0, **settings).fit(X, 1e3 * y)
    warm.set_params(dtype="float64").fit(X, y)
    cold = DoublyStochasticRegressor(max_iter=5, random_state=0, **settings).set_params(dtype="float64").fit(X, y)
    np.testing.assert_array_equal(warm.predict(X), cold.predict(X))
    assert warm.n_iter_ == 5
    warm.fit(X, 2.0 * y)
    assert warm.n_iter_ == 10  # these are near enough


@pytest.mark.parametrize(
    "model", [DoublyStochasticClassifier, DoublyStochasticRegressor, DoublyStochasticNoveltyDetector]
)
def test_a_warm_start_with_other_weights_is_one_on_other_rows(model):
    """Rows that lose all weight leave the outputs of the old fit, its window and its place in the pass."""
    X, y = rows(150)
    used = np.arange(150) % 3 > 0
    targets = () if model is DoublyStochasticNoveltyDetector else (y > 0 if model is DoublyStochasticClassifier else y,)
    settings = {"batch_size": 32, "block_size": 8, "max_iter": 7, "warm_start": True, "random_state": 0}
    models = [model(Gaussian(), **settings).fit(X, *targets) for _ in range(2)]
    models[0].fit(X, *targets, sample_weight=used.astype(float))
    models[1].fit(X[used], *(target[used] for target in targets))
    np.testing.assert_array_equal(models[0].block_coef_, models[1].block_coef_)
    np.testing.assert_array_equal(*(each._progress.solution.state["place"] for each in models))


@pytest.mark.parametrize(
    "model", [DoublyStochasticRegressor, DoublyStochasticGPRegressor, DoublyStochasticDensityRatio]
)
def test_a_warm_start_on_other_rows_begins_with_their_first_batch(model):
    X, y = rows(150)
    if model is DoublyStochasticDensityRatio:
        first, second = (X[:60], X[60:]), (X[:90], X[90:])  # the same rows as two other samples
    else:
        first, second = (X, y), (X, 2.0 * y)
    settings = {"batch_size": 32, "block_size": 8, "precondition": False, "max_iter": 3, "random_state": 0}
    warm = model(Gaussian(), warm_start=True, **settings).fit(*first).fit(*second)
    cold = model(Gaussian(), **settings).fit(*second)
    assert warm.n_iter_ == [6] and cold.n_iter_ == [3]
    np.testing.assert_array_equal(*(each._progress.solution.state["place"] for each in (warm, cold)))


def test_a_gaussian_process_that_one_step_solves_has_no_warm_start():
    X, y = rows(300)
    P = [rows(4, seed=s)[0] for s in (1, 2)]
    settings = {"gamma": 1.0, "std": "points", "random_state": 0}
    warm = DoublyStochasticGPRegressor(warm_start=True, **settings).fit(X, y, points=P[0])
    warm.set_params(noise_variance=5.0).fit(X, y, points=P[1])
    cold = DoublyStochasticGPRegressor(noise_variance=5.0, **settings).fit(X, y, points=P[1])
    for mine, theirs in zip(warm.predict(P[1], return_std=True), cold.predict(P[1], return_std=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("change", [{"draws": "iid"}, {"points": True}], ids=str)
def test_other_features_or_points_are_a_cold_start(change):
    X, y = rows(300)
    settings = {"gamma": 1.0, "std": "points", "batch_size": 64, "block_size": 64, "max_iter": 4, "random_state": 0}
    P = [rows(4, seed=s)[0] for s in (1, 2)]
    later = P[1] if change.pop("points", False) else P[0]
    warm = DoublyStochasticGPRegressor(warm_start=True, **settings).fit(X, y, points=P[0])
    warm.set_params(**change).fit(X, y, points=later)
    cold = DoublyStochasticGPRegressor(**settings | change).fit(X, y, points=later)
    np.testing.assert_array_equal(warm.predict(X), cold.predict(X))


def test_small_calls_of_partial_fit_learn_from_the_rows_before_them():
    X, y = rows(2_000)
    model = DoublyStochasticRegressor(gamma=1.0, random_state=0)
    for start in range(0, 2_000, 50):
        model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert len(model._progress.solution.state["recent_f"]) == 1_024
    large = DoublyStochasticRegressor(gamma=1.0, random_state=0)
    for _ in range(20):
        large.partial_fit(X[:1_000], y[:1_000]).partial_fit(X[1_000:], y[1_000:])
    assert model.score(*rows(500, seed=3)) > large.score(*rows(500, seed=3)) - 0.1


@pytest.mark.parametrize(
    "model", [DoublyStochasticRegressor(max_iter=2, random_state=0), KernelSVC(gamma="median", random_state=0)], ids=str
)
@pytest.mark.parametrize("n", [600, 5_000])
def test_rows_of_weight_zero_do_not_decide_the_bandwidth_of_blocks(model, n):
    X, y = rows(n)
    y = y if isinstance(model, DoublyStochasticRegressor) else y > 0
    weights = np.where(np.arange(n) % 2, 1.0, 0.0)
    X[::2] *= 100.0
    of_blocks = Distributed(model).fit(np.split(X, [n // 3]), y, weights).estimator_
    assert of_blocks.kernel_.sigma == pytest.approx(model.fit(X, y, weights).kernel_.sigma, rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")
@pytest.mark.parametrize(("method", "n", "batch_size"), [("fit", 150, 32), ("partial_fit", 1_024, 1_024)])
@pytest.mark.parametrize(
    "model", [DoublyStochasticClassifier, DoublyStochasticRegressor, DoublyStochasticNoveltyDetector]
)
def test_rows_of_weight_zero_are_left_out(model, method, n, batch_size):
    """They decide neither the size of batches and windows nor the number of steps."""
    X, y = rows(n)
    used = np.arange(n) % 3 > 0
    targets = () if model is DoublyStochasticNoveltyDetector else (y > 0 if model is DoublyStochasticClassifier else y,)
    settings = {"batch_size": batch_size, "block_size": 8, "shuffle": False, "random_state": 0}
    models = [model(Gaussian(), **settings) for _ in range(2)]
    for _ in range(2):
        getattr(models[0], method)(X, *targets, sample_weight=used.astype(float))
        getattr(models[1], method)(X[used], *(target[used] for target in targets))
    np.testing.assert_array_equal(models[0].n_iter_, models[1].n_iter_)
    np.testing.assert_array_equal(models[0].block_coef_, models[1].block_coef_)


@pytest.mark.parametrize("spread", [False, True], ids=["chunks", "blocks"])
def test_rows_of_weight_zero_do_not_lower_the_noise_of_a_gaussian_process(spread):
    X, y = rows(300)
    used = np.arange(300) % 3 == 0
    settings = {"noise_variance": 0.3, "std": "operator", "block_size": 64, "random_state": 0}
    found = []
    for data in ((X, y, used.astype(float)), (X[used], y[used], np.ones(100))):
        model = DoublyStochasticGPRegressor(Gaussian(), **settings)
        if spread:
            model = Distributed(model).fit([data[0]], *data[1:]).estimator_
        else:
            model.fit_chunks([data])
        assert model.n_samples_ == 100
        found.append(model.predict(X[:20], return_std=True))
    for part, expected in zip(*found, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-6)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_run_that_continues_takes_the_precision_it_is_given(method):
    X, y = rows(100)
    model = DoublyStochasticRegressor(dtype="float32", max_iter=2, warm_start=True, random_state=0).fit(X, y)
    getattr(model.set_params(dtype="float64"), method)(X, y)
    assert model.dtype_ == "float64" and model.block_coef_.dtype == np.float64


@pytest.mark.parametrize("first", ["fit", "partial_fit"])
@pytest.mark.parametrize("n", [300, 2_500])
def test_a_few_rows_after_a_fit_hardly_move_the_posterior(first, n):
    X, y = rows(n)
    P, later = rows(50, seed=1)[0], rows(5, seed=2)
    model = DoublyStochasticGPRegressor(
        gamma=1.0, noise_variance=0.01, std="points", block_size=256, max_iter=1 if n > 300 else -1, random_state=0
    )
    getattr(model, first)(X, y, points=P)
    mean, std = model.predict(P, return_std=True)
    moved, spread = model.partial_fit(*later).predict(P, return_std=True)
    assert np.abs(moved - mean).max() < 0.15 and np.abs(spread - std).max() < 0.1
    assert model._progress.solution.state["recent_f"].shape == (min(n + 5, 1_024), 51)


@pytest.mark.filterwarnings("ignore:.*partial_fit learns")
@pytest.mark.parametrize("change", [{"gamma": 3.0}, {"std": "operator"}, {"block_size": 32}], ids=str)
def test_rows_before_a_new_start_do_not_count(change):
    """The noise was that of all rows, of which the process knew the last ones only."""
    X, y = rows(1_100)
    settings = {"gamma": 1.0, "block_size": 64, "random_state": 0}
    model = DoublyStochasticGPRegressor(**settings).fit(X, y).set_params(**change).partial_fit(X[:1_050], y[:1_050])
    anew = DoublyStochasticGPRegressor(**settings | change).partial_fit(X[:1_050], y[:1_050])
    assert model.n_samples_ == anew.n_samples_ == 1_050
    np.testing.assert_array_equal(model.predict(X), anew.predict(X))
    assert model.partial_fit(X[1_050:], y[1_050:]).n_samples_ == 1_100


def test_rows_that_are_overwritten_after_a_fit_are_still_learned_with():
    X, y = rows(300)
    found = []
    for overwritten in (False, True):
        data = X.copy(), y.copy()
        model = DoublyStochasticGPRegressor(gamma=1.0, block_size=64, random_state=0).fit(*data)
        if overwritten:
            data[0][:], data[1][:] = 0.0, 0.0
        found.append(model.partial_fit(*rows(5, seed=2)).predict(X))
    np.testing.assert_array_equal(*found)


def test_a_few_rows_without_those_before_them_are_warned_about(tmp_path):
    X, y = rows(300)
    settings = {"gamma": 1.0, "noise_variance": 0.01, "random_state": 0}
    DoublyStochasticGPRegressor(**settings).fit(X, y).save(tmp_path / "model.npz")
    with pytest.warns(UserWarning, match="partial_fit learns the model from these 5 rows without"):
        kernbench.load(tmp_path / "model.npz").partial_fit(*rows(5, seed=2))
    model = DoublyStochasticGPRegressor(std="operator", block_size=64, **settings).fit(X, y)
    with pytest.warns(UserWarning, match="learns standard deviations from these 5 rows"):
        model.partial_fit(*rows(5, seed=2))


def test_rows_after_which_the_iterates_of_a_gaussian_process_are_averaged_are_learned():
    """With more rows than a step solves for, `average` applies."""
    X, y = rows(300)
    model = DoublyStochasticGPRegressor(gamma=1.0, batch_size=200, block_size=64, random_state=0)
    for start in range(0, 300, 100):
        before = None if start == 0 else model.predict(X)
        model.partial_fit(X[start : start + 100], y[start : start + 100])
    assert "average_sum" in model._progress.solution.state
    assert np.abs(model.predict(X) - before).max() > 1e-3


def test_other_classes_are_a_cold_start():
    X, y = rows(200)
    y = (y > 0).astype(int)
    model = DoublyStochasticClassifier(max_iter=5, batch_size=64, warm_start=True, random_state=0).fit(X, y)
    assert model.fit(X, y + 1).n_iter_ == [5] and model.fit(X, y + 1).n_iter_ == [10]
