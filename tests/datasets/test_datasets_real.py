"""Real sets: the builders on small forged files, and the published sets where their files are at hand."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from kernbench.datasets import describe, fetch, load, verify
from kernbench.datasets.real import images, libsvm, tables

POSITIVES = {  # name: +1 in the training part, +1 in the test part, as published
    "adult": (7841, 3846),
    "mnist-8-vs-rest": (5851, 974),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", sorted(POSITIVES))
def test_published_sets_have_their_published_counts(name, real_files):
    real_files(name)
    entry, dataset = describe(name), load(name)
    assert dataset.kind == "full"
    assert (dataset.n_train, dataset.n_test) == (entry.n_train, entry.n_test)
    assert dataset.n_features == entry.n_features
    assert (np.sum(dataset.y_train == 1), np.sum(dataset.y_test == 1)) == POSITIVES[name]
    assert set(np.unique(dataset.y_train)) == {-1, 1}


@pytest.mark.real_data
def test_adult_is_binary_csr(real_files):
    real_files("adult")
    dataset = load("adult")
    assert sparse.issparse(dataset.X_train) and dataset.X_train.format == "csr"
    assert np.all(dataset.X_train.data == 1)
    assert dataset.X_train.nnz == 451_592
    assert dataset.X_train.indices.dtype == np.int32


@pytest.mark.real_data
def test_adult_subsets_are_stratified_rows(real_files):
    real_files("adult")
    dataset = load("adult", n_train=1000, n_test=500, seed=3)
    assert dataset.kind == "subset"
    assert (np.sum(dataset.y_train == 1), np.sum(dataset.y_test == 1)) == (241, 118)
    assert "Subset: 1,000 of 32,561 training and 500 of 16,281 test examples" in dataset.description


@pytest.mark.real_data
def test_mnist_pixels_are_between_0_and_1(real_files):
    real_files("mnist-8-vs-rest")
    X = load("mnist-8-vs-rest").X_train
    assert X.dtype == np.float32
    assert (X.min(), X.max()) == (0.0, 1.0)
    assert np.mean(X > 0) == pytest.approx(0.191, abs=0.001)


@pytest.mark.real_data
def test_covtype_is_split_and_standardised(real_files):
    real_files("covtype")
    dataset = load("covtype")
    assert (dataset.n_train, dataset.n_test, dataset.n_features) == (522_910, 58_102, 54)
    assert np.sum(dataset.y_train == 1) + np.sum(dataset.y_test == 1) == 283_301
    assert np.mean(dataset.y_test == 1) == pytest.approx(283_301 / 581_012, abs=1e-4)
    assert dataset.X_train.dtype == np.float32
    np.testing.assert_allclose(dataset.X_train.mean(axis=0, dtype=float), 0, atol=1e-4)
    np.testing.assert_allclose(dataset.X_train.std(axis=0, dtype=float), 1, atol=1e-3)
    assert "standardise=True" in dataset.description


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["adult", "mnist-8-vs-rest"])
def test_files_at_hand_verify(name, real_files):
    real_files(name)
    assert [status.status for status in verify(name)] == ["ok"] * len(fetch(name))


@pytest.fixture
def small_covtype(write, monkeypatch):
    monkeypatch.setattr(tables, "COVTYPE_TRAIN", 40)
    rng = np.random.default_rng(0)
    table = rng.integers(-100, 4000, (60, 55))
    table[:, 7] = 3  # constant
    table[:, -1] = np.tile([1, 2, 2, 3, 7, 2], 10)
    lines = "".join(",".join(map(str, row)) + "\n" for row in table)
    return table, {"covtype.data": write("covtype.data.gz", gzip.compress(lines.encode()))}


def test_covtype_builder_keeps_raw_integers_on_request(small_covtype):
    table, paths = small_covtype
    X_train, y_train, X_test, y_test = tables.covtype(paths, standardise=False)
    assert X_train.shape == (40, 54)
    rows = {tuple(row[:-1]): 1 if row[-1] == 2 else -1 for row in table.tolist()}
    for X, y in ((X_train, y_train), (X_test, y_test)):
        assert [rows.pop(tuple(map(int, row))) for row in X] == list(y)
    assert rows == {}
    assert (np.sum(y_train == 1), np.sum(y_test == 1)) == (20, 10)


def test_covtype_builder_standardises_by_the_training_part(small_covtype):
    _, paths = small_covtype
    raw = tables.covtype(paths, standardise=False, split_seed=4)
    scaled = tables.covtype(paths, split_seed=4)
    mean, deviation = raw[0].mean(axis=0), raw[0].std(axis=0)
    deviation[7] = 1
    for part in (0, 2):
        np.testing.assert_allclose(scaled[part], (raw[part] - mean) / deviation, atol=1e-5)
    assert np.all(scaled[0][:, 7] == 0)
    assert not np.array_equal(raw[0], tables.covtype(paths, standardise=False, split_seed=5)[0])


def _idx(array):
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


def test_mnist_builder_reads_idx_files(write):
    rng = np.random.default_rng(0)
    paths, parts = {}, {}
    for part, n in (("train", 5), ("t10k", 3)):
        pixels = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        digits = np.array([8, 1, 8, 3, 0][:n], dtype=np.uint8)
        parts[part] = pixels
        paths[f"{part}-images-idx3-ubyte"] = write(f"{part}-images", gzip.compress(_idx(pixels)))
        paths[f"{part}-labels-idx1-ubyte"] = write(f"{part}-labels", _idx(digits))
    X_train, y_train, X_test, y_test = images.mnist_8_vs_rest(paths)
    np.testing.assert_allclose(X_train, parts["train"].reshape(5, 784) / 255, rtol=1e-6)
    assert X_test.shape == (3, 784)
    assert y_train.tolist() == [1, -1, 1, -1, -1]


@pytest.mark.parametrize("content", [b"", b"\0\0\x08\x01\0\0\0\x05\1\2", b"\0\0\x0d\x01\0\0\0\0"])
def test_a_broken_idx_file_is_named(content, write):
    path = write("labels", content)
    with pytest.raises(ValueError, match="labels: (not an idx file|found 2 bytes of data, expected 5)"):
        images._read_idx(path)


def test_adult_builder_gives_both_parts_123_columns(write):
    paths = {"a9a": write("a9a", "-1 3:1 123:1\n+1 1:1\n"), "a9a.t": write("a9a.t", "-1 122:1\n")}
    X_train, y_train, X_test, y_test = libsvm.adult(paths)
    assert X_train.shape == (2, 123) and X_test.shape == (1, 123)
    assert y_train.tolist() == [-1, 1] and y_test.tolist() == [-1]
