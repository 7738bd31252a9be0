"""Long-tailed image sets of two classes, from files: CIFAR-10, MNIST, Tiny-ImageNet, CheXpert."""

import numpy as np

from kernbench.datasets import load as load_dataset
from kernbench.datasets.base import Dataset, array_checksum
from kernbench.datasets.splits import stratified_indices
from kernbench.experiments.papers.pauc.deep import photographs

IMBALANCE = 0.01  # the last class over the first
CATS, BIRDS = (3,), (11, 20, 21, 22)  # the positive classes
THREES = (3,)
SIDE = 64  # of a radiograph, in pixels
FINDINGS = {
    "cardiomegaly": "Cardiomegaly",
    "edema": "Edema",
    "consolidation": "Consolidation",
    "atelectasis": "Atelectasis",
    "pleural-effusion": "Pleural Effusion",
}


def long_tail(largest, n_classes):
    """The sizes of the classes, largest * 0.01^(k / (K - 1)), rounded down.

    With 5,000 and 10 classes, or 500 and 200, the positive classes hold 1,077 and 1,308 images, the others 11,329 and
    20,241: the counts of the paper's Table 5.
    """
    return [int(largest * IMBALANCE ** (k / (n_classes - 1))) for k in range(n_classes)]


def cifar10_long_tailed(seed=0):
    """Cats of CIFAR-10 against the rest, long-tailed, from the whole archive.

    Parameters
    ----------
    seed : int
        Draws the training images of each class.
    """
    X, y, X_test, y_test = photographs.cifar10()
    rows = _drawn(y, long_tail(5000, 10), seed)
    return _dataset("cifar10-lt", "full", CATS, (X[rows], y[rows], X_test, y_test), photographs.CIFAR10_PAGE)


def cifar10_long_tailed_subset(seed=0):
    """The same from the subset of 4,000 + 1,000 images.

    Each negative class has the number of images that the long tail prescribes, or all if there are fewer; the number of
    cats keeps the share of positives of Table 5.
    """
    data = load_dataset("cifar10-subset")
    wanted = long_tail(5000, 10)
    share = wanted[CATS[0]] / sum(wanted)
    sizes = np.minimum(wanted, np.bincount(data.y_train, minlength=10))
    sizes[CATS[0]] = 0
    sizes[CATS[0]] = round(sizes.sum() * share / (1 - share))
    rows = _drawn(data.y_train, sizes, seed)
    parts = data.X_train[rows], data.y_train[rows], data.X_test, data.y_test
    return _dataset("cifar10-lt", "subset", CATS, parts, data.source)


def mnist_long_tailed(seed=0, n_positive=None, share=1.0, n_test=None):
    """The digit 3 of MNIST against the rest, long-tailed by the counts of CIFAR-10 in Table 5: 1,077 and 11,329.

    Parameters
    ----------
    seed : int
        Draws the training images of each class.
    n_positive : int or None
        Training images that show a 3; None keeps the long tail's 1,077.
    share : float
        By which the numbers of all other digits are multiplied.
    n_test : int or None
        Test images; None takes the 10,000 published ones.
    """
    data = load_dataset("mnist")
    sizes = [round(share * size) for size in long_tail(5000, 10)]
    sizes[THREES[0]] = long_tail(5000, 10)[THREES[0]] if n_positive is None else n_positive
    rows = _drawn(data.y_train, sizes, seed)
    test = slice(None) if n_test is None else stratified_indices(data.y_test, n_test, np.random.default_rng([6, seed]))
    parts = data.X_train[rows], data.y_train[rows], data.X_test[test], data.y_test[test]
    return _dataset("mnist-lt", "subset", THREES, parts, data.source)


def tiny_imagenet_long_tailed(seed=0):
    """Birds of Tiny-ImageNet against the rest, long-tailed; the files are placed by hand."""
    sizes, rng = long_tail(500, 200), np.random.default_rng([5, seed])
    parts = photographs.tiny_imagenet(lambda label, n: np.sort(rng.choice(n, min(n, sizes[label]), replace=False)))
    return _dataset("tiny-imagenet-200-lt", "full", BIRDS, parts, photographs.TINY_PAGE)


def chexpert(task="edema"):
    """Radiographs of CheXpert of 64 x 64 pixels, one finding against the rest; the files are placed by hand.

    Parameters
    ----------
    task : str
        One of `FINDINGS`.
    """
    parts = photographs.chexpert(FINDINGS[task], SIDE)
    return _dataset(f"chexpert-{task}", "full", (1,), parts, photographs.CHEXPERT_PAGE)


def _drawn(y, sizes, seed):
    """Indices of as many examples of each class as `sizes` says, in their order."""
    rng = np.random.default_rng([5, seed])
    members = [np.flatnonzero(y == label) for label in range(len(sizes))]
    return np.sort(np.concatenate([rng.choice(own, size, replace=False) for own, size in zip(members, sizes)]))


def _dataset(name, kind, positive, parts, source):
    """A data set of two classes, pixels divided by 255."""
    parts = tuple(np.where(np.isin(part, positive), 1, -1) if k % 2 else _unit(part) for k, part in enumerate(parts))
    X_train, y_train, X_test, y_test = parts
    n_positive = int(np.sum(y_train > 0))
    return Dataset(
        name=name,
        X_train=X_train,
        y_train=y_train,
        X_test=X_test,
        y_test=y_test,
        kind=kind,
        description=f"{n_positive:,} positive and {len(y_train) - n_positive:,} negative training images, "
        f"{len(y_test):,} test images.",
        source=source,
        checksum=array_checksum(*parts),
    )


def _unit(pixels):
    return pixels.astype(np.float32) / np.float32(255) if pixels.dtype == np.uint8 else pixels
