"""Images: file formats, and rows of pixels between 0 and 1."""

import gzip

import numpy as np
import pytest

from kernbench.datasets.real import images


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


def test_cifar_builder_flattens_pictures_and_keeps_ten_classes(tmp_path):
    rng = np.random.default_rng(0)
    train, test = (rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8) for n in (4, 2))
    path = tmp_path / "cifar10_subset.npz"
    np.savez(path, X_train=train, y_train=np.uint8([6, 9, 0, 4]), X_test=test, y_test=np.uint8([3, 8]))
    X_train, y_train, X_test, y_test = images.cifar10_subset({path.name: path})
    np.testing.assert_allclose(X_train, train.reshape(4, 3072) / 255, rtol=1e-6)
    assert X_test.dtype == np.float32 and X_test.shape == (2, 3072)
    assert y_train.dtype == np.int64 and y_train.tolist() == [6, 9, 0, 4]
