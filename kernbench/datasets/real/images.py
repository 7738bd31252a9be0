"""Images as rows of pixels."""

import numpy as np

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.errors import malformed
from kernbench.datasets.files.remote import RemoteFile
from kernbench.datasets.readers.compressed import open_bytes
from kernbench.datasets.readers.npz import read_arrays
from kernbench.datasets.real.deformed import DeformedImages
from kernbench.datasets.real.preparation import signs, split_by_seed
from kernbench.validation.numbers import check_number, is_integer

_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist", "http://yann.lecun.com/exdb/mnist")


def mnist(paths, *, n_components=None):
    """Ten digits, labels 0 to 9, pixels divided by 255: dense, float32.

    About a fifth of the pixels are nonzero. CSR would take less memory, but dense matrix products are much faster.

    Parameters
    ----------
    paths : dict
    n_components : int or None, default=None
        Principal components of the training images in place of pixels; None keeps the pixels.
    """
    parts = []
    for part in ("train", "t10k"):
        images = _read_idx(paths[f"{part}-images-idx3-ubyte"])
        digits = _read_idx(paths[f"{part}-labels-idx1-ubyte"])
        parts += [_unit(images), digits.astype(np.int64)]
    return _projected(parts, n_components)


def mnist_8_vs_rest(paths):
    """The digit 8 (+1) against all others: the images of `mnist`."""
    X_train, y_train, X_test, y_test = mnist(paths)
    return X_train, signs(y_train == 8), X_test, signs(y_test == 8)


def mnist_8_vs_6(paths, *, n_components=None):
    """The images of `mnist` that show an 8 (+1) or a 6 (-1).

    Parameters
    ----------
    paths : dict
    n_components : int or None, default=None
        As in `mnist`; of these images.
    """
    parts = []
    for X, digits in _pairs(mnist(paths)):
        shown = np.isin(digits, (6, 8))
        parts += [X[shown], signs(digits[shown] == 8)]
    return _projected(parts, n_components)


def mnist_deformed(paths, seed, *, digits=None, n_components=None):
    """An endless stream of deformed digits to train with, and the test images as they are.

    Parameters
    ----------
    paths : dict
    seed : int
        Seed of the stream.
    digits : None or (int, int), default=None
        Two digits, of which the first becomes +1 and the second -1; None takes all ten.
    n_components : int or None, default=None
        As in `mnist`; of the images before they are deformed.

    Returns
    -------
    stream : DeformedImages
    X_test, y_test : ndarrays
    """
    if digits is not None and not _is_pair(digits):
        raise ValueError(f"digits must be None or two different digits, such as (8, 6), got {digits!r}")
    parts = list(mnist(paths))
    if digits is not None:
        for k in (0, 2):
            shown = np.isin(parts[k + 1], digits)
            parts[k], parts[k + 1] = parts[k][shown], signs(parts[k + 1][shown] == digits[0])
    X_train, y_train, X_test, y_test = parts
    project = None if n_components is None else principal_components(X_train, n_components)
    stream = DeformedImages(X_train, y_train, seed, project)
    return stream, X_test if project is None else project(X_test), y_test


def _is_pair(digits):
    are_digits = isinstance(digits, list | tuple) and all(is_integer(digit) and 0 <= digit <= 9 for digit in digits)
    return are_digits and len(digits) == len(set(digits)) == 2


def principal_components(X, n_components):
    """Return a function that projects rows to the first principal components of the rows of X.

    The largest entry of each component is positive, which makes them unique.
    """
    check_number("n_components", n_components, at_least=1, below=X.shape[1] + 1, whole=True)
    mean = X.mean(axis=0, dtype=np.float64)
    covariance = (X.T @ X).astype(np.float64) / len(X) - np.outer(mean, mean)
    components = np.linalg.eigh(covariance)[1][:, ::-1][:, :n_components]
    largest = np.abs(components).argmax(axis=0)
    components = components * np.sign(components[largest, np.arange(n_components)])
    components, offset = components.astype(X.dtype), (mean @ components).astype(X.dtype)
    return lambda rows: rows @ components - offset


def _projected(parts, n_components):
    if n_components is None:
        return tuple(parts)
    project = principal_components(parts[0], n_components)
    return project(parts[0]), parts[1], project(parts[2]), parts[3]


def _pairs(parts):
    return parts[:2], parts[2:]


@split_by_seed(test_fraction=500 / 1797, scaled=False)
def digits(paths):
    """Ten digits of 8 x 8 pixels, labels 0 to 9, divided by 16: dense, float64; the data come with scikit-learn."""
    from sklearn.datasets import load_digits  # slow to import; most data sets need none of it

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y.astype(np.int64)


def cifar10_subset(paths):
    """Ten classes of small photographs, labels 0 to 9, pixels divided by 255: dense, float32.

    The first 4,000 training and the first 1,000 test images; a row holds red, green and blue of each of 32 x 32
    pixels. ``cifar10_subset.npz`` is made from ``cifar-10-python.tar.gz``: the images are the first rows of
    ``data_batch_1`` and ``test_batch``, in which all red values precede the green and the blue.

    Results are not comparable with those published for all 60,000 images.
    """
    arrays = read_arrays(paths["cifar10_subset.npz"], ("X_train", "y_train", "X_test", "y_test"))
    parts = []
    for images, labels in _pairs(arrays):
        parts += [_unit(images), labels.astype(np.int64)]
    return tuple(parts)


def _unit(images):
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def _read_idx(path):
    """Read MNIST's idx format of bytes: two zeros, type 8, number of dimensions, sizes (big-endian), data."""
    with open_bytes(path) as file:
        content = file.read()
    if content[:3] != b"\0\0\x08" or len(content) < 4 or len(content) < 4 + 4 * content[3]:
        raise malformed(path, "not an idx file of bytes")
    start = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:start], dtype=">u4")
    if len(content) - start != shape.prod(dtype=np.int64):
        raise malformed(path, f"found {len(content) - start} bytes of data, expected {' x '.join(map(str, shape))}")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def _mnist_file(name, checksum):
    return RemoteFile(name, checksum, tuple(f"{origin}/{name}.gz" for origin in _MNIST))


_MNIST_FACTS = {
    "source": "http://yann.lecun.com/exdb/mnist/",
    "n_train": 60_000,
    "n_test": 10_000,
    "n_features": 784,
    "layout": "dense float32",
    "files": (
        _mnist_file("train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
        _mnist_file("train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
        _mnist_file("t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
        _mnist_file("t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    ),
}

ENTRIES = (
    DatasetEntry(
        name="digits",
        kind="bundled",
        summary="Handwritten digits of 8 x 8 pixels, divided by 16: classes 0 to 9; seeded stratified split.",
        source="sklearn.datasets.load_digits, from https://archive.ics.uci.edu/dataset/80",
        n_train=1_297,
        n_test=500,
        n_features=64,
        task="multi-class",
        build=digits,
    ),
    DatasetEntry(
        name="mnist-8-vs-rest",
        summary="Handwritten digits, pixels divided by 255: +1 is the digit 8, -1 the rest.",
        positive="9.8%",
        build=mnist_8_vs_rest,
        **_MNIST_FACTS,
    ),
    DatasetEntry(
        name="mnist",
        summary="Handwritten digits, pixels divided by 255: classes 0 to 9.",
        build=mnist,
        task="multi-class",
        **_MNIST_FACTS,
    ),
    DatasetEntry(
        name="mnist-deformed",
        summary="An endless stream of MNIST's training images, deformed at random, to train with; the test images are "
        "MNIST's own.",
        build=mnist_deformed,
        endless=True,
        task="multi-class",
        **_MNIST_FACTS,
    ),
    DatasetEntry(
        name="mnist-8-vs-6",
        summary="Handwritten digits, pixels divided by 255: +1 is the digit 8, -1 the digit 6.",
        build=mnist_8_vs_6,
        positive="49.7%",
        **_MNIST_FACTS | {"n_train": 11_769, "n_test": 1_932},
    ),
    DatasetEntry(
        name="cifar10-subset",
        kind="subset",
        summary="CIFAR-10, the first images of both parts, pixels divided by 255: classes 0 to 9.",
        source="https://www.cs.toronto.edu/~kriz/cifar.html",
        n_train=4_000,
        n_test=1_000,
        n_published=60_000,
        n_features=3_072,
        layout="dense float32",
        task="multi-class",
        build=cifar10_subset,
        files=(
            RemoteFile(
                "cifar10_subset.npz",
                "4d200ad7e85e52c0d51b00781e7a9114c64d12fe3d43f68796c527477119ee64",
                (),
                recipe="the first 4,000 and 1,000 images as arrays X_train, y_train, X_test, y_test of "
                "uint8, images of shape (n, 32, 32, 3)",
            ),
        ),
    ),
)
