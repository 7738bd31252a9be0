"""Data files of the user's own as data sets."""

import numpy as np
import pytest

from kernbench.datasets import load_own, write_npz
from kernbench.datasets.splits import split_indices


@pytest.fixture
def file(tmp_path):
    """A function ``file(labels)``: the path of an archive with these labels."""

    def write(labels):
        labels = np.asarray(labels)
        X = np.random.default_rng(0).normal(size=(len(labels), 3))
        write_npz(tmp_path / "my.npz", X, labels)
        return tmp_path / "my.npz"

    return write


def test_two_classes_become_signs_in_their_order(file):
    data = load_own(file([5, 2] * 20))
    assert (data.task, data.kind, data.name) == ("binary", "own", "my.npz")
    assert (data.n_train, data.n_test, data.n_features) == (30, 10, 3)
    assert set(data.y_train) == {-1, 1} and data.y_train.dtype == np.int64
    assert (data.y_train == 1).sum() == 15 and (data.y_test == 1).sum() == 5  # stratified; 5 is +1
    assert "class 5 against 2" in data.description


def test_a_seed_is_a_split_and_a_split_a_checksum(file):
    path = file([0, 1] * 20)
    one, same, other = (load_own(path, split_seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X_test, same.X_test)
    assert one.checksum == same.checksum != other.checksum
    rows = {tuple(row) for row in np.vstack([one.X_train, one.X_test])}
    assert len(rows) == 40  # every row is in one part


def test_more_classes_are_numbered_and_other_numbers_are_targets(file):
    assert set(load_own(file([3, 7, 9] * 8)).y_train) == {0, 1, 2}
    targets = load_own(file(np.linspace(0, 1, 20)))
    assert targets.task == "regression" and targets.y_train.dtype == np.float64


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_a_seed_is_a_whole_number(file, seed):
    with pytest.raises(ValueError, match="split_seed must be"):
        load_own(file([0, 1] * 10), split_seed=seed)


def test_eight_rows_are_enough(file):
    data = load_own(file([0, 1] * 4))
    assert (data.n_train, data.n_test) == (6, 2) and set(data.y_train) == set(data.y_test) == {-1, 1}


@pytest.mark.parametrize("labels", [[0] * 2 + [1] * 998, [0, 1] * 2 + [2] * 96, list(range(10)) * 2])
def test_a_rare_class_is_in_both_parts(file, labels):
    data = load_own(file(labels))
    assert set(data.y_train) == set(data.y_test) and len(set(data.y_test)) == len(set(labels))
    rows = {tuple(row) for row in np.vstack([data.X_train, data.X_test])}
    assert len(rows) == len(labels)


def test_without_rare_classes_a_split_is_that_of_all_data_sets(file):
    y = np.repeat([-1, 1], [13, 28])
    data = load_own(file(y), split_seed=3)
    train, test = split_indices(y, 31, 3)
    X = np.random.default_rng(0).normal(size=(41, 3))
    np.testing.assert_array_equal(data.X_train, X[train])
    np.testing.assert_array_equal(data.X_test, X[test])


@pytest.mark.parametrize(
    "labels, message",
    [
        ([1] * 9, "all rows are of one class, 1"),
        ([1] * 9 + [2], "class 2 has one row"),
        ([1, 2, 2, 1, 2, 1, 2], "7 rows are too few"),
    ],
)
def test_a_file_that_cannot_be_split_is_refused(file, labels, message):
    with pytest.raises(ValueError, match=f"my.npz: .*{message}"):
        load_own(file(labels))
