"""Generated sets: deterministic, with the documented shapes and difficulty."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, SVR

from kernbench.datasets import available, describe, load
from kernbench.datasets.generated.census import GROUPS
from kernbench.datasets.generated.ridge_2d import ripple

GENERATED = [name for name in available() if describe(name).kind == "generated"]


def _dense(X):
    return X.toarray() if sparse.issparse(X) else X


def _error(model, dataset):
    return np.mean(model.fit(dataset.X_train, dataset.y_train).predict(dataset.X_test) != dataset.y_test)


@pytest.mark.parametrize("name", GENERATED)
def test_one_seed_one_dataset(name):
    first, again, other = (load(name, n_train=300, n_test=200, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(_dense(first.X_train), _dense(again.X_train))
    np.testing.assert_array_equal(_dense(first.X_test), _dense(again.X_test))
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert first.checksum == again.checksum != other.checksum
    assert not np.array_equal(_dense(first.X_train), _dense(other.X_train))


@pytest.mark.parametrize("name", GENERATED)
def test_shapes_and_layout_are_as_described(name):
    entry, dataset = describe(name), load(name)
    assert (dataset.n_train, dataset.n_test) == (entry.n_train, entry.n_test)
    assert dataset.n_features == dataset.X_test.shape[1] == entry.n_features
    assert ("CSR" if sparse.issparse(dataset.X_train) else "dense") in entry.layout
    assert str(dataset.X_train.dtype) in entry.layout
    assert dataset.kind == "generated"
    if entry.task == "regression":
        assert dataset.y_train.dtype == np.float64 and np.isfinite(dataset.y_train).all()
    else:
        assert dataset.y_train.dtype == np.int64
        assert set(np.unique(dataset.y_train)) == set(np.unique(dataset.y_test)) == {-1, 1}
    assert np.isfinite(_dense(dataset.X_train)).all()


@pytest.mark.parametrize("name", GENERATED)
def test_test_part_does_not_depend_on_n_train(name):
    small, large = load(name, n_train=100, n_test=80, seed=1), load(name, n_train=500, n_test=80, seed=1)
    np.testing.assert_array_equal(_dense(small.X_test), _dense(large.X_test))
    np.testing.assert_array_equal(small.y_test, large.y_test)


@pytest.mark.parametrize("name", GENERATED)
def test_training_and_test_parts_share_no_dense_row(name):
    dataset = load(name, n_train=200, n_test=200)
    if sparse.issparse(dataset.X_train):
        assert not np.array_equal(dataset.X_train.toarray(), dataset.X_test.toarray())
    else:
        assert not set(map(tuple, dataset.X_train)) & set(map(tuple, dataset.X_test))


@pytest.mark.parametrize(("name", "share"), [("blobs", 0.5), ("moons", 0.5), ("rings", 0.5), ("sparse-text", 0.2)])
def test_classes_have_their_exact_share(name, share):
    assert np.sum(load(name, n_train=1000, n_test=10).y_train > 0) == 1000 * share


def test_blobs_have_the_bayes_error_of_their_separation():
    dataset = load("blobs", n_test=20_000, separation=2.0)
    predicted = np.where(dataset.X_test.sum(axis=1) > 0, 1, -1)
    assert np.mean(predicted != dataset.y_test) == pytest.approx(0.1587, abs=0.01)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_checkerboard_flips_the_share_of_labels_it_says(noise):
    dataset = load("checkerboard", n_test=1000, noise=noise)
    square = np.floor(dataset.X_test).astype(int).sum(axis=1)
    colour = np.where(square % 2 == 0, 1, -1)
    assert np.sum(colour != dataset.y_test) == 1000 * noise


def test_a_line_across_the_checkerboard_does_little_better_than_chance():
    data = load("checkerboard", n_train=10, n_test=20_000)
    # Nearly the best line, across the second diagonal of +1: right for 1/2 + 1/14 of the board, and 5 % are flipped.
    predicted = np.where(data.X_test.sum(axis=1) + 4 < 24 / 7, 1, -1)
    assert np.mean(predicted == data.y_test) == pytest.approx(0.5 + 0.9 / 14, abs=0.02)


@pytest.mark.parametrize("name", ["checkerboard", "rings"])
def test_planar_sets_need_a_kernel(name):
    dataset = load(name)
    assert _error(LogisticRegression(), dataset) > 0.4
    assert _error(SVC(gamma=4.0, C=10.0), dataset) < 0.12


def test_moons_reward_a_kernel():
    dataset = load("moons")
    assert _error(SVC(gamma=2.0), dataset) < _error(LogisticRegression(), dataset) - 0.02


def test_sparse_text_has_unit_rows_and_power_law_columns():
    X = load("sparse-text").X_train
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0, atol=1e-6)
    assert X.has_sorted_indices and X.data.min() > 0
    column_counts = np.sort(np.bincount(X.indices, minlength=X.shape[1]))[::-1]
    assert column_counts[:50].sum() > 0.3 * X.nnz
    # Zipf: on log-log axes the counts fall with a slope near -1.
    ranks = np.arange(10, 1000)
    assert np.polyfit(np.log(ranks), np.log(column_counts[ranks]), 1)[0] == pytest.approx(-1.0, abs=0.15)


def test_adult_like_has_the_shape_of_adult():
    dataset = load("adult-like")
    X = dataset.X_train
    assert sum(size for size, _ in GROUPS.values()) == X.shape[1] == 123
    assert np.all(X.data == 1)
    assert X.nnz / X.shape[0] == pytest.approx(13.87, abs=0.05)
    start = 0
    for size, _ in GROUPS.values():
        assert X[:, start : start + size].sum(axis=1).max() == 1
        start += size
    assert np.mean(dataset.y_train > 0) == pytest.approx(0.24, abs=0.02)


def test_adult_like_is_as_hard_as_adult_and_not_linear():
    dataset = load("adult-like", n_train=2500, seed=1)
    kernel_error = _error(SVC(gamma=0.05, C=1.0), dataset)
    assert kernel_error == pytest.approx(0.15, abs=0.015)
    assert kernel_error < _error(LogisticRegression(C=0.3, max_iter=1000), dataset)


def test_adult_like_rule_does_not_depend_on_the_seed():
    train, test = (load("adult-like", n_train=2000, n_test=1000, seed=seed) for seed in (0, 1))
    predicted = SVC(gamma=0.05, C=1.0).fit(train.X_train, train.y_train).predict(test.X_test)
    assert np.mean(predicted != test.y_test) < 0.19


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("checkerboard", {"noise": 0.5}, "noise must be a number of at least 0 and below 0.5, got 0.5"),
        ("checkerboard", {"cells": 1}, "cells must be an integer of at least 2"),
        ("blobs", {"n_features": 2.5}, "n_features must be a positive integer"),
        ("blobs", {"separation": float("nan")}, "separation must be a finite number"),
        ("sparse-text", {"positive": 0}, "positive must be"),
    ],
)
def test_options_out_of_range_are_refused(name, options, said):
    with pytest.raises(ValueError, match=said):
        load(name, **options)


def test_ridge_2d_is_the_papers_function_plus_noise():
    points = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
    expected = [1.0, -np.exp(-0.2 * np.pi), 0.0]  # cos 0, cos π, cos 5π/2
    np.testing.assert_allclose(ripple(points), expected, atol=1e-12)
    data = load("ridge-2d", n_train=20_000, n_test=10)
    assert np.abs(data.X_train).max() <= 5 and data.task == "regression"
    assert np.std(data.y_train - ripple(data.X_train)) == pytest.approx(0.1, rel=0.02)
    assert -1.3 < data.y_train.min() and data.y_train.max() < 1.4
    clean = load("ridge-2d", n_train=10, n_test=10, noise=0.0)
    np.testing.assert_allclose(clean.y_train, ripple(clean.X_train), atol=1e-8)


def test_cpu_small_like_is_not_linear():
    data = load("cpu-small-like", n_train=800, n_test=800)
    linear, kernel = (model.fit(data.X_train, data.y_train) for model in (Ridge(), SVR(gamma=0.08)))
    assert linear.score(data.X_test, data.y_test) < 0.75 < 0.85 < kernel.score(data.X_test, data.y_test)
    assert abs(data.y_train.std() - 1.0) < 0.15


def test_about_half_of_the_variance_of_year_like_can_be_predicted():
    data = load("year-like", n_train=3000, n_test=2000)
    model = Ridge(alpha=10.0).fit(data.X_train, data.y_train)
    assert 0.4 < model.score(data.X_test, data.y_test) < 0.7
    assert abs(data.y_train.mean()) < 0.1 and np.median(data.y_train) > 0.2  # a long tail below


CHECKSUMS = {  # first digits of those of 100 training and 10 test examples of seed 1
    "blobs": "82063c8c75d4",
    "moons": "b06498ae7490",
    "checkerboard": "598c96d53003",
    "rings": "fab7c559be5a",
    "sparse-text": "e991f7005c25",
    "adult-like": "a4b00df11790",
    "roc-linear": "c7c4f10aa44c",
    "roc-radial": "451c99e8dc99",
    "roc-large": "62852ff7c731",
    "clusters-large": "83bdecc4f039",
    "network-features": "c55942872a45",
    "striped-images": "d70e3f256f02",
    "ridge-2d": "52478ec201fa",
    "cpu-small-like": "efea50f5f015",
    "year-like": "0a2231009d18",
}


@pytest.mark.parametrize("name", GENERATED)
def test_the_data_of_a_seed_never_change(name):
    """Records of other machines and releases are compared by the checksum of their data."""
    assert load(name, n_train=100, n_test=10, seed=1).checksum.startswith(CHECKSUMS[name])


@pytest.mark.parametrize("name, option, values", [
    ("cpu-small-like", "noise", (0.0, 1.0)), ("year-like", "noise", (0.5, 3.0)), ("ridge-2d", "noise", (0.0, 0.1)),
    ("moons", "noise", (0.0, 0.25)), ("rings", "noise", (0.0, 0.25)), ("striped-images", "noise", (0.0, 0.25)),
    ("network-features", "task", ("edema", "consolidation")),
])  # fmt: skip
def test_options_change_the_data(name, option, values):
    assert len({load(name, n_train=50, n_test=10, **{option: value}).checksum for value in values}) == 2
