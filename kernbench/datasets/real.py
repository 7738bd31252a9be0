"""Real sets, from files to arrays: each builder takes ``{file name: path}`` and returns the whole set.

The result is ``(X_train, y_train, X_test, y_test)`` with labels -1 and +1, int64.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from kernbench.datasets.checks import require_number
from kernbench.datasets.errors import malformed
from kernbench.datasets.packed import open_text, open_unpacked
from kernbench.datasets.splits import stratified_split
from kernbench.datasets.svmlight import read_svmlight

ADULT_FEATURES = 123  # the last one never occurs in a9a.t
COVTYPE_TRAIN = 522_910  # and 58,102 to test: the sizes in Cotter, Shalev-Shwartz, Srebro, ICML 2012
BREAST_CANCER_TRAIN = 400


def adult(paths):
    """a9a and a9a.t as published: CSR, float64."""
    X_train, y_train = read_svmlight(paths["a9a"], n_features=ADULT_FEATURES)
    X_test, y_test = read_svmlight(paths["a9a.t"], n_features=ADULT_FEATURES)
    return X_train, y_train, X_test, y_test


def covtype(paths, *, standardise=True, split_seed=0):
    """Cover type 2 (lodgepole pine, +1) against the rest: dense, float32.

    Parameters
    ----------
    paths : dict
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part. False keeps the raw integers,
        where distances in metres outweigh everything else.
    split_seed : int, default=0
        The origin has no test part: 58,102 rows are drawn by this seed, stratified; the rest trains.
    """
    with open_text(paths["covtype.data"]) as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int16, comments=None)
    y = _signs(table[:, -1] == 2)
    return _split(table[:, :-1].astype(np.float32), y, COVTYPE_TRAIN, standardise, split_seed)


def breast_cancer(paths, *, standardise=True, split_seed=0):
    """Malignant (+1) against benign: dense, float64.

    Parameters
    ----------
    paths : dict
        Empty; the data come with scikit-learn.
    standardise : bool, default=True
        Bring every column to mean 0 and variance 1 over the training part.
    split_seed : int, default=0
        Of 569 rows 169 are drawn by this seed to test, stratified.
    """
    X, y = load_breast_cancer(return_X_y=True)
    return _split(X, _signs(y == 0), BREAST_CANCER_TRAIN, standardise, split_seed)


def mnist_8_vs_rest(paths):
    """The digit 8 (+1) against all others, pixels divided by 255: dense, float32.

    About a fifth of the pixels are not 0. CSR would take less memory, but the dense matrix products behind
    the blocks of a kernel are much faster at this density.
    """
    parts = []
    for part in ("train", "t10k"):
        images = _read_idx(paths[f"{part}-images-idx3-ubyte"])
        digits = _read_idx(paths[f"{part}-labels-idx1-ubyte"])
        parts += [images.reshape(len(images), -1).astype(np.float32) / np.float32(255), _signs(digits == 8)]
    return tuple(parts)


def _signs(positive):
    return np.where(positive, 1, -1).astype(np.int64)


def _split(X, y, n_train, standardise, split_seed):
    require_number("split_seed", split_seed, at_least=0, whole=True)
    if not isinstance(standardise, bool):
        raise ValueError(f"standardise must be True or False, got {standardise!r}")
    train, test = stratified_split(y, n_train, split_seed)
    X_train, X_test = X[train], X[test]
    if standardise:
        mean = X_train.mean(axis=0, dtype=np.float64)
        deviation = X_train.std(axis=0, dtype=np.float64)
        deviation[deviation == 0] = 1.0
        for part in (X_train, X_test):
            part -= mean.astype(X.dtype)
            part /= deviation.astype(X.dtype)
    return X_train, y[train], X_test, y[test]


def _read_idx(path):
    """Bytes in the idx format of MNIST: two zeros, type 8, number of dimensions, their sizes, the data."""
    with open_unpacked(path) as file:
        content = file.read()
    if content[:3] != b"\0\0\x08" or len(content) < 4 + 4 * content[3]:
        raise malformed(path, "not an idx file of bytes")
    start = 4 + 4 * content[3]
    shape = np.frombuffer(content[4:start], dtype=">u4")
    if len(content) - start != shape.prod(dtype=np.int64):
        raise malformed(
            path, f"found {len(content) - start} bytes of data, expected {' x '.join(map(str, shape))}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)
