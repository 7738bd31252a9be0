"""Published sets agree with their published facts; skipped where their files are missing."""

import numpy as np
import pytest
from scipy import sparse

from kernbench.datasets import available, describe, fetch, load, verify

POSITIVES = {  # name: number of +1 among all examples, or in the training and in the test part, as published
    "accelerometer": 571,
    "adult": (7_841, 3_846),
    "avila": (4_286, 4_286),
    "bank-marketing": 4_640,
    "bank-marketing-one-hot": 4_640,
    "heart-failure": 96,
    "ijcnn1": (4_853, 8_712),
    "magic": 6_688,
    "mnist-8-vs-6": (5_851, 974),
    "mnist-8-vs-rest": (5_851, 974),
    "occupancy": 1_901,
    "reuters-money-fx": (538, 179),
    "w8a": 1_479,
    "wine-quality": 217 + 1_060,
}
LONG_TO_READ = {"ijcnn1", "mnist-8-vs-6", "reuters-money-fx"}


@pytest.fixture(scope="module")
def whole_sets():
    """Sets loaded as they are by default, to be read only."""
    return {}


@pytest.fixture
def real(real_files, whole_sets):
    """A function from a name to the real set of that name, which skips if its files are missing."""

    def loaded(name):
        real_files(name)
        if name not in whole_sets:
            whole_sets[name] = load(name)
        return whole_sets[name]

    return loaded


def test_every_published_set_is_looked_at_here():
    here = {"covtype", "skin", "cifar10-subset", "qm7", "mnist", "mnist-deformed", *POSITIVES}
    assert here == {name for name in available() if describe(name).files}


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG_TO_READ else ()) for name in POSITIVES]
)
def test_published_sets_have_their_published_counts(name, real):
    entry, dataset = describe(name), real(name)
    assert dataset.kind == entry.kind == ("subset" if name == "w8a" else "full")
    assert dataset.task == "binary"
    assert (dataset.n_train, dataset.n_test) == (entry.n_train, entry.n_test)
    assert dataset.n_features == dataset.X_test.shape[1] == entry.n_features
    assert ("CSR" if sparse.issparse(dataset.X_train) else "dense") in entry.layout
    assert str(dataset.X_train.dtype) in entry.layout
    counts = np.sum(dataset.y_train == 1), np.sum(dataset.y_test == 1)
    published = POSITIVES[name]
    assert (counts if isinstance(published, tuple) else sum(counts)) == published
    assert set(np.unique(dataset.y_train)) == set(np.unique(dataset.y_test)) == {-1, 1}
    share = np.mean(dataset.y_train == 1)
    assert entry.positive == f"{share:.1%}"
    if "split_seed" in entry.options:
        assert np.mean(dataset.y_test == 1) == pytest.approx(share, abs=1 / dataset.n_test)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["accelerometer", "bank-marketing", "magic", "occupancy", "skin"])
def test_columns_are_standardised_over_the_training_part(name, real):
    X = real(name).X_train
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1, atol=1e-9)


@pytest.mark.real_data
@pytest.mark.parametrize("name, share", [("w8a", 1 / 3), ("wine-quality", 1 / 4), ("occupancy", 1 / 6)])
def test_as_many_test_rows_occur_in_the_training_part_as_is_documented(name, share, real):
    dataset = real(name)
    parts = [X.toarray() if sparse.issparse(X) else X for X in (dataset.X_train, dataset.X_test)]
    # Bytes are compared faster than tuples of numbers; 0 is added as -0 has others.
    train, test = ([row.tobytes() for row in part + 0.0] for part in parts)
    seen = set(train)
    assert np.mean([row in seen for row in test]) == pytest.approx(share, abs=0.015)


@pytest.mark.real_data
def test_skin_is_a_subset_unless_all_rows_are_asked_for(real):
    subset, whole = real("skin"), load("skin", n_rows=None)
    assert (subset.kind, subset.n_train, subset.n_test) == ("subset", 70_000, 30_000)
    assert "Subset: 100,000 of the 245,057 published examples." in subset.description
    assert np.mean(subset.y_train == 1) == pytest.approx(50_859 / 245_057, abs=1e-5)
    assert (whole.kind, whole.n_train + whole.n_test) == ("full", 245_057)
    assert np.sum(whole.y_train == 1) + np.sum(whole.y_test == 1) == 50_859


@pytest.mark.real_data
def test_adult_is_binary_csr(real):
    X = real("adult").X_train
    assert X.format == "csr"
    assert np.all(X.data == 1)
    assert X.nnz == 451_592
    assert X.indices.dtype == np.int32


@pytest.mark.real_data
def test_w8a_has_its_published_entries(real):
    dataset = real("w8a")
    assert dataset.X_train.nnz + dataset.X_test.nnz == 579_586
    assert "49,749 of the 64,700 published examples" in dataset.description


@pytest.mark.real_data
def test_reuters_rows_have_unit_length(real):
    X = real("reuters-money-fx").X_train
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, atol=1e-6)


@pytest.mark.real_data
def test_adult_subsets_are_stratified_rows(real_files):
    real_files("adult")
    dataset = load("adult", n_train=1000, n_test=500, seed=3)
    assert dataset.kind == "subset"
    assert (np.sum(dataset.y_train == 1), np.sum(dataset.y_test == 1)) == (241, 118)
    assert "Subset: 1,000 of 32,561 training and 500 of 16,281 test examples" in dataset.description


@pytest.mark.real_data
def test_mnist_pixels_are_between_0_and_1(real):
    X = real("mnist-8-vs-rest").X_train
    assert X.dtype == np.float32
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert np.mean(X > 0) == pytest.approx(0.191, abs=0.001)


@pytest.mark.real_data
def test_covtype_is_split_and_standardised(real):
    dataset = real("covtype")
    assert (dataset.n_train, dataset.n_test, dataset.n_features) == (522_910, 58_102, 54)
    assert np.sum(dataset.y_train == 1) + np.sum(dataset.y_test == 1) == 283_301
    assert np.mean(dataset.y_test == 1) == pytest.approx(283_301 / 581_012, abs=1e-4)
    assert dataset.X_train.dtype == np.float32
    np.testing.assert_allclose(dataset.X_train.mean(axis=0, dtype=float), 0, atol=1e-4)
    np.testing.assert_allclose(dataset.X_train.std(axis=0, dtype=float), 1, atol=1e-3)
    assert "standardise=True" in dataset.description


@pytest.mark.real_data
def test_cifar_subset_has_ten_classes(real):
    dataset = real("cifar10-subset")
    assert (dataset.kind, dataset.task, dataset.n_features) == ("subset", "multi-class", 3072)
    assert (dataset.n_train, dataset.n_test) == (4_000, 1_000)
    assert np.all(np.bincount(dataset.y_train) > 350) and len(np.bincount(dataset.y_train)) == 10
    assert (dataset.X_train.min(), dataset.X_train.max()) == (0.0, 1.0)


@pytest.mark.real_data
def test_qm7_begins_with_methane_and_keeps_its_range_of_energies(real):
    dataset = real("qm7")
    assert (dataset.kind, dataset.task, dataset.n_features) == ("subset", "regression", 276)
    assert dataset.n_train + dataset.n_test == 7_101
    energies = np.r_[dataset.y_train, dataset.y_test]
    assert (energies.min(), energies.max()) == pytest.approx((-2188.25, -403.70), abs=0.01)
    methane = dataset.X_train[0]
    assert methane[0] == pytest.approx(0.5 * 6**2.4)
    assert np.count_nonzero(methane) == 15


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["adult", "mnist-8-vs-rest", "skin", "qm7"])
def test_files_at_hand_verify(name, real_files):
    real_files(name)
    assert [status.status for status in verify(name)] == ["ok"] * len(fetch(name))


@pytest.mark.real_data
def test_mnist_has_ten_classes_with_their_published_counts(real):
    data = real("mnist")
    assert np.bincount(data.y_train).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(data.y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert data.task == "multi-class"


@pytest.mark.real_data
def test_deformed_digits_are_as_many_as_asked_for_and_still_digits(real_files):
    from sklearn.neighbors import KNeighborsClassifier

    real_files("mnist-deformed")
    data = load("mnist-deformed", n_train=3000, n_test=500, seed=1, n_components=30)
    assert (data.n_train, data.n_test, data.n_features) == (3000, 500, 30)
    # Neighbours among the deformed images know the test images, nearly as well as those among 3,000 others (7 %).
    error = 1 - KNeighborsClassifier(3).fit(data.X_train, data.y_train).score(data.X_test, data.y_test)
    assert error < 0.12
    pair = load("mnist-deformed", n_train=100, n_test=100, digits=(8, 6))
    assert set(pair.y_train) == set(pair.y_test) == {-1, 1}
