"""Images: file formats, and rows of pixels between 0 and 1."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from kernbench.datasets import loading, registry
from kernbench.datasets.real import deformed, images


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


@pytest.fixture
def digits(write):
    """Files of an MNIST of 40 and 20 random images."""
    rng, paths = np.random.default_rng(0), {}
    for part, n in (("train", 40), ("t10k", 20)):
        pixels = rng.integers(0, 256, (n, 28, 28), dtype=np.uint8)
        paths[f"{part}-images-idx3-ubyte"] = write(f"{part}-images", _idx(pixels))
        paths[f"{part}-labels-idx1-ubyte"] = write(f"{part}-labels", _idx(np.arange(n, dtype=np.uint8) % 10))
    return paths


def test_eights_against_sixes_are_those_of_mnist(digits):
    X, y, X_test, y_test = images.mnist(digits)
    pair = images.mnist_8_vs_6(digits)
    np.testing.assert_array_equal(pair[0], X[np.isin(y, (6, 8))])
    assert pair[1].tolist() == [-1, 1] * 4 and pair[3].tolist() == [-1, 1] * 2
    assert sorted(set(y)) == sorted(set(y_test)) == list(range(10))


def test_principal_components_are_those_of_the_training_images(digits):
    X, _, X_test, _ = images.mnist(digits)
    Z, _, Z_test, _ = images.mnist(digits, n_components=5)
    left, singular, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(Z), np.abs(left[:, :5] * singular[:5]), atol=2e-4)
    np.testing.assert_allclose(np.abs(Z_test), np.abs((X_test - X.mean(axis=0)) @ right[:5].T), atol=2e-4)
    with pytest.raises(ValueError, match="n_components must be"):
        images.mnist(digits, n_components=0)


def test_the_stream_of_deformed_images_does_not_depend_on_how_it_is_cut(digits, monkeypatch):
    """Into less than a block, a block, and more."""
    monkeypatch.setattr(deformed, "BLOCK_ROWS", 128)
    stream, X_test, _ = images.mnist_deformed(digits, 3, n_components=4)
    whole, labels = stream.rows(0, 375)
    assert X_test.shape == (20, 4) and whole.shape == (375, 4)
    for size in (50, 128, 190):
        chunks = list(stream.chunks(size, 375))
        np.testing.assert_array_equal(np.concatenate([X for X, _ in chunks]), whole)
        np.testing.assert_array_equal(np.concatenate([y for _, y in chunks]), labels)
    np.testing.assert_array_equal(stream.rows(125, 140)[0], whole[125:140])
    for start in (0, 5, 128):
        X, y = stream.rows(start, start)
        assert X.shape == (0, 4) and y.shape == (0,)
    other, _, _ = images.mnist_deformed(digits, 4, n_components=4)
    assert not np.array_equal(other.rows(0, 10)[0], whole[:10])


def test_the_blocks_of_the_stream_are_drawn_together(digits):
    """Of another size they are another stream."""
    assert deformed.BLOCK_ROWS == 1024
    stream, _, _ = images.mnist_deformed(digits, 3, n_components=4)
    first, second = (stream.rows(start, start + 100) for start in (0, 1024))
    X, y = stream.rows(1000, 1100)
    np.testing.assert_array_equal(X[24:], second[0][:76])
    np.testing.assert_array_equal(y[24:], second[1][:76])
    assert not np.array_equal(first[0], second[0])


def test_the_stream_has_no_end(digits):
    stream, _, _ = images.mnist_deformed(digits, 0, digits=(8, 6))
    chunks = stream.chunks(512)
    drawn = [next(chunks) for _ in range(5)]
    assert all(X.shape == (512, 784) and set(y) == {-1, 1} for X, y in drawn)
    assert 0 <= min(X.min() for X, _ in drawn) and max(X.max() for X, _ in drawn) <= 1


def test_two_digits_of_the_stream_are_a_binary_set(digits, monkeypatch):
    entry = registry.get("mnist-deformed")

    def build(paths, seed, *, digits=None, n_components=None):
        return entry.build(paths, seed, digits=digits, n_components=n_components)

    monkeypatch.setattr(loading, "get", lambda name: replace(entry, build=build))
    monkeypatch.setattr(loading, "locate", lambda *_: digits)
    data = loading.load("mnist-deformed", n_train=20, digits=(8, 6))
    assert data.task == "binary" and set(data.y_train) == set(data.y_test) == {-1, 1}
    assert loading.load("mnist-deformed", n_train=20).task == "multi-class"
    for wrong in (3, (8,), (8, 8), (8, 10), "86", (1, 2, 3)):
        with pytest.raises(ValueError, match="two different digits"):
            loading.load("mnist-deformed", digits=wrong)


def test_a_deformation_of_no_size_changes_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    pictures = rng.random((3, 784), dtype=np.float32)
    for name in ("ROTATION", "SCALING", "SHEAR", "SHIFT", "BENDING"):
        monkeypatch.setattr(deformed, name, 0.0)
    np.testing.assert_allclose(deformed.deformed(pictures, rng), pictures, atol=1e-5)
    assert deformed.deformed(pictures, rng).dtype == np.float32
    monkeypatch.setattr(deformed, "SHIFT", 2.0)  # of a single bright pixel, by its weighted mean
    point = np.zeros((50, 28, 28), dtype=np.float32)
    point[:, 14, 14] = 1
    moved = deformed.deformed(point.reshape(50, -1), rng).reshape(50, 28, 28)
    np.testing.assert_allclose(moved.sum(axis=(1, 2)), 1, atol=1e-4)
    assert 1 < np.std((moved.sum(axis=2) * np.arange(28)).sum(axis=1)) < 3


@pytest.mark.parametrize("content", [b"", b"\0\0\x08", b"\0\0\x08\x01\0\0\0\x05\1\2", b"\0\0\x0d\x01\0\0\0\0"])
def test_a_broken_idx_file_is_named(content, write):
    path = write("labels", content)
    with pytest.raises(ValueError, match="labels: (not an idx file|found 2 bytes of data, expected 5)"):
        images._read_idx(path)


def test_cifar_builder_flattens_pictures_and_keeps_ten_classes(tmp_path):
    rng = np.random.default_rng(0)
    train, test = (rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8) for n in (4, 2))
    path = tmp_path / "cifar10_subset.npz"
    np.savez(path, X_train=train, y_train=np.uint8([6, 9, 0, 4]), X_test=test, y_test=np.uint8([3, 8]))
    X_train, y_train, X_test, y_test = images.cifar10_subset({path.name: path})
    np.testing.assert_allclose(X_train, train.reshape(4, 3072) / 255, rtol=1e-6)
    assert X_test.dtype == np.float32 and X_test.shape == (2, 3072)
    assert y_train.dtype == np.int64 and y_train.tolist() == [6, 9, 0, 4]
