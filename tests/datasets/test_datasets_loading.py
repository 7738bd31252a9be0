"""load, available, describe: names, sizes, subsets, labels."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer

from kernbench.datasets import available, describe, load, loading, stream
from kernbench.datasets.base import array_checksum
from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.splits import random_indices, split_indices, stratified_indices


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="unknown data set 'checkerbord'; did you mean 'checkerboard'?"):
        load("checkerbord")


def test_an_unknown_option_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="unknown option of covtype 'standardize'; did you mean 'standardise'?"):
        load("covtype", standardize=True)
    with pytest.raises(ValueError, match="unknown option 'noise': adult-like has no options"):
        load("adult-like", noise=0.1)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"n_train": 1}, "n_train must be an integer of at least 2, got 1"),
        ({"n_test": 0}, "n_test must be a positive integer, got 0"),
        ({"n_train": 10.0}, "n_train must be an integer"),
        ({"n_train": 401}, "n_train=401 is more than breast-cancer has: 400"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"seed": None}, "seed must be an integer"),
        ({"standardise": "no"}, "standardise must be True or False"),
        ({"split_seed": -3}, "split_seed must be"),
        ({"test_fraction": 1.0}, "test_fraction must be a number of at least 0.001 and below 1"),
        ({"test_fraction": 69 / 569, "n_train": 501}, "n_train=501 is more than breast-cancer has: 500"),
    ],
)
def test_wrong_arguments_are_refused(sizes, said):
    with pytest.raises(ValueError, match=said):
        load("breast-cancer", **sizes)


def test_the_smallest_sizes_work_and_hold_both_classes():
    for name in available(offline=True):
        entry = describe(name)
        if entry.task != "binary" or (entry.kind == "generated" and "about" in entry.positive):
            continue  # labels are drawn, not balanced
        assert set(load(name, n_train=2, n_test=1).y_train) == {-1, 1}


def test_a_training_part_of_one_class_is_refused():
    seeds = [seed for seed in range(10) if _has_one_class(seed)]
    assert seeds  # 0.76^2 of all pairs are negative


def _has_one_class(seed):
    try:
        load("adult-like", n_train=2, n_test=1, seed=seed)
    except ValueError as error:
        return "of one class; ask for a larger n_train" in str(error)
    return False


def test_available_offline_leaves_out_what_needs_a_download():
    offline = available(offline=True)
    assert offline == [name for name in available() if not describe(name).files]
    assert {"blobs", "breast-cancer"} <= set(offline) and "adult" not in offline


def test_available_offline_takes_in_what_is_in_the_folder(data_folder):
    (data_folder / "a9a.gz").touch()
    assert "adult" not in available(offline=True)
    (data_folder / "a9a.t").touch()
    assert "adult" in available(offline=True)


@pytest.mark.parametrize("name", available())
def test_describe_prints_what_a_reader_wants_to_know(name):
    entry = describe(name)
    text = str(entry)
    for fact in (name, entry.kind, entry.summary, entry.source, f"{entry.n_train:,}", *entry.options):
        assert fact in text


def test_breast_cancer_is_scikit_learns_split_and_standardised():
    dataset = load("breast-cancer")
    assert dataset.kind == "bundled"
    assert (dataset.n_train, dataset.n_test, dataset.n_features) == (400, 169, 30)
    np.testing.assert_allclose(dataset.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(dataset.X_train.std(axis=0), 1, atol=1e-12)
    raw = load("breast-cancer", standardise=False)
    together = np.vstack([raw.X_train, raw.X_test])
    X, y = load_breast_cancer(return_X_y=True)
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    assert np.sum(raw.y_train > 0) + np.sum(raw.y_test > 0) == np.sum(y == 0) == 212
    assert raw.checksum != dataset.checksum


def test_another_split_is_no_subset():
    dataset = load("breast-cancer", test_fraction=69 / 569)
    assert (dataset.n_train, dataset.n_test, dataset.kind) == (500, 69, "bundled")


def test_too_many_rows_are_refused_before_files_are_looked_for():
    with pytest.raises(ValueError, match="n_train=600000 is more than covtype has: 581012"):
        load("covtype", n_train=600_000)


@pytest.fixture
def published(monkeypatch):
    """A function that replaces every data set by a forged one of 100 examples, 25 of them for testing."""

    def put(y, **facts):
        X = np.arange(100.0)[:, None]
        facts = {"kind": "full", "n_train": 75, "n_test": 25, **facts}
        entry = DatasetEntry(
            name="forged",
            summary="Forged.",
            source="https://page.test",
            n_features=1,
            layout="dense float64",
            build=lambda paths: (X[:75], y[:75], X[75:], y[75:]),
            **facts,
        )
        monkeypatch.setattr(loading, "get", lambda name: entry)

    return put


def test_what_lacks_published_examples_is_a_subset(published):
    published(np.tile([-1, 1], 50), kind="full", n_published=120)
    dataset = load("forged")
    assert dataset.kind == "subset"
    assert "Subset: 100 of the 120 published examples. 75 training and 25 test" in dataset.description
    assert describe("forged").n_examples == 120


def test_regression_parts_are_drawn_at_random(published):
    published(np.linspace(0, 1, 100), task="regression")
    dataset = load("forged", n_train=30, n_test=10, seed=1)
    assert dataset.task == "regression"
    np.testing.assert_array_equal(dataset.y_train, np.linspace(0, 1, 100)[dataset.X_train[:, 0].astype(int)])
    assert "30 of 75 training and 10 of 25 test examples, drawn with seed 1" in dataset.description


def test_equal_targets_are_no_single_class(published):
    published(np.zeros(100), task="regression")
    assert load("forged").y_train.tolist() == [0.0] * 75


def test_a_subset_is_named_as_such():
    dataset = load("breast-cancer", n_train=100, seed=5)
    assert dataset.kind == "subset"
    assert "Subset: 100 of 400 training and 169 of 169 test examples" in dataset.description
    assert "seed 5" in dataset.description
    assert dataset.checksum == load("breast-cancer").checksum


def test_asking_for_everything_is_no_subset():
    dataset = load("breast-cancer", n_train=400, n_test=169, seed=9)
    assert dataset.kind == "bundled"
    np.testing.assert_array_equal(dataset.X_train, load("breast-cancer").X_train)


def test_subset_rows_are_different_rows_of_the_whole_set():
    whole, part = load("breast-cancer"), load("breast-cancer", n_train=150, n_test=50, seed=2)
    for X, y, X_part, y_part in (
        (whole.X_train, whole.y_train, part.X_train, part.y_train),
        (whole.X_test, whole.y_test, part.X_test, part.y_test),
    ):
        labels = {tuple(row): label for row, label in zip(X, y, strict=True)}
        rows = list(map(tuple, X_part))
        assert len(set(rows)) == len(rows)
        assert [labels[row] for row in rows] == list(y_part)


def test_subsets_are_seeded():
    first, again, other = (load("breast-cancer", n_train=100, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


@pytest.mark.parametrize("size", [2, 7, 100, 999])
def test_subsets_keep_the_shares_of_the_classes(size):
    y = np.repeat([0, 1, 1, 2, 2, 2, 2, 2, 2, 2], 100)
    rows = stratified_indices(y, size, np.random.default_rng(0))
    assert len(np.unique(rows)) == len(rows) == size
    assert np.all(np.diff(rows) > 0)
    if size > 3:
        counts = np.bincount(y[rows], minlength=3)
        assert np.all(np.abs(counts - size * np.array([0.1, 0.2, 0.7])) < 1)


def test_no_class_is_lost_where_there_is_room_for_it():
    y = np.r_[np.zeros(990), np.ones(10)]
    assert sorted(y[stratified_indices(y, 2, np.random.default_rng(0))]) == [0, 1]


def test_a_split_is_a_partition():
    y = np.repeat([-1, 1], [70, 30])
    train, test = split_indices(y, 60, seed=0)
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(100))
    assert (np.sum(y[train] > 0), np.sum(y[test] > 0)) == (18, 12)


def test_targets_that_are_no_classes_are_split_at_random():
    y = np.linspace(0, 1, 100)
    train, test = split_indices(y, 60, seed=0, draw=random_indices)
    np.testing.assert_array_equal(np.sort(np.r_[train, test]), y.argsort())
    assert len(train) == 60 and np.all(np.diff(train) > 0)


def test_a_dataset_is_frozen_pickles_and_prints_short():
    dataset = load("blobs", n_train=10, n_test=10)
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.kind = "full"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(dataset)).X_train, dataset.X_train)
    assert "array" not in repr(dataset)


def test_a_set_with_an_end_is_no_stream():
    with pytest.raises(ValueError, match="moons has an end: use load. Endless sets: mnist-deformed"):
        stream("moons")


def test_the_largest_remainders_get_the_rows_that_are_left():
    rows = stratified_indices(np.repeat([0, 1, 2], [26, 35, 39]), 10, np.random.default_rng(0))
    assert np.bincount(np.repeat([0, 1, 2], [26, 35, 39])[rows]).tolist() == [3, 3, 4]  # of 2.6, 3.5 and 3.9


def test_a_checksum_is_of_shapes_types_and_places():
    X = np.arange(6.0).reshape(2, 3)
    moved = sparse.csr_matrix(np.roll(np.eye(3), 1, axis=0))
    lower = sparse.csr_matrix((np.ones(3), [0, 1, 2], [0, 0, 2, 3]), shape=(3, 3))  # the entries of eye in other rows
    others = X, X.reshape(3, 2), X.astype("float32"), X + 1.0, sparse.csr_matrix(np.eye(3)), moved, lower
    assert len({array_checksum(array) for array in others}) == len(others)
    assert array_checksum(X) == array_checksum(np.asfortranarray(X))


def test_a_learning_curve_over_a_published_set_has_one_test_part():
    small, large = (load("breast-cancer", n_train=n, n_test=40) for n in (50, 100))
    np.testing.assert_array_equal(small.X_test, large.X_test)
