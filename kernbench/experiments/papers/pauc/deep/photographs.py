"""Images in files that are placed by hand: the archive of CIFAR-10, folders of JPEG files."""

import csv
import hashlib
import io
import pickle
import tarfile

import numpy as np

from kernbench.datasets.errors import ChecksumMismatch, DatasetUnavailable
from kernbench.datasets.files.folders import search_folders

CIFAR10, CIFAR10_PAGE = "cifar-10-python.tar.gz", "https://www.cs.toronto.edu/~kriz/cifar.html"
CIFAR10_CHECKSUM = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"  # SHA-256 of the archive
CIFAR10_PARTS = (tuple(f"data_batch_{k}" for k in range(1, 6)), ("test_batch",))
TINY, TINY_PAGE = "tiny-imagenet-200", "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
CHEXPERT, CHEXPERT_PAGE = "CheXpert-v1.0-small", "https://stanfordmlgroup.github.io/competitions/chexpert"


def placed(name, page):
    """Return the path of a file or folder in the folders of data; DatasetUnavailable if it is in none."""
    for folder in search_folders():
        if (folder / name).exists():
            return folder / name
    looked = ", ".join(map(str, search_folders()))
    raise DatasetUnavailable(
        f"{name} was not found. Looked in: {looked}. To continue, get it from {page} and place it in a folder that "
        "KERNBENCH_DATA names"
    )


class _Arrays(pickle.Unpickler):
    """Unpickle the dicts of bytes and arrays of CIFAR-10's batches; all other types in a pickle are rejected."""

    allowed = ("_reconstruct", "ndarray", "dtype", "_frombuffer", "encode")

    def find_class(self, module, name):
        if name in self.allowed and module.partition(".")[0] in ("numpy", "_codecs"):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not an array")


def cifar10(checksum=CIFAR10_CHECKSUM):
    """Return X_train, y_train, X_test, y_test of CIFAR-10: uint8 rows of 3 x 32 x 32 pixels, labels 0 to 9."""
    path = placed(CIFAR10, CIFAR10_PAGE)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ChecksumMismatch(f"{path} is not the published {CIFAR10}: remove it, or get it from {CIFAR10_PAGE}")
    parts = []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for names in CIFAR10_PARTS:
            batches = [
                _Arrays(archive.extractfile(f"cifar-10-batches-py/{name}"), encoding="bytes").load() for name in names
            ]
            parts += [
                np.concatenate([batch[b"data"] for batch in batches]),
                np.concatenate([np.array(batch[b"labels"], dtype=np.int64) for batch in batches]),
            ]
    return tuple(parts)


def tiny_imagenet(chosen, folder=TINY):
    """Return the arrays of Tiny-ImageNet: uint8 rows of 3 x 64 x 64 pixels, labels 0 to 199.

    Parameters
    ----------
    chosen : callable
        ``chosen(label, n)`` returns the indices of the training images of a class to read, of its n.
    folder : str
    """
    home = placed(folder, TINY_PAGE)
    classes = {path.name: k for k, path in enumerate(sorted((home / "train").iterdir()))}
    train = []
    for name, label in classes.items():
        files = sorted((home / "train" / name / "images").iterdir())
        train += [(files[k], label) for k in chosen(label, len(files))]
    with open(home / "val" / "val_annotations.txt", encoding="utf-8") as file:
        test = [(home / "val" / "images" / row[0], classes[row[1]]) for row in csv.reader(file, delimiter="\t")]
    parts = []
    for listed in (train, test):
        parts += [
            np.stack([_pixels(path, (64, 64), "RGB") for path, _ in listed]),
            np.array([label for _, label in listed]),
        ]
    return tuple(parts)


def chexpert(column, side, folder=CHEXPERT):
    """Return the arrays of CheXpert: uint8 rows of side x side pixels, 1 for a finding and 0 for none or uncertain.

    Parameters
    ----------
    column : str
        A finding: ``"Edema"``.
    side : int
        To which radiographs are made smaller.
    folder : str
    """
    home, parts = placed(folder, CHEXPERT_PAGE), []
    for name in ("train.csv", "valid.csv"):
        with open(home / name, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        paths = [home / row["Path"].partition("/")[2] for row in rows]
        parts += [
            np.stack([_pixels(path, (side, side), "L") for path in paths]),
            np.array([row[column] == "1.0" for row in rows], dtype=np.int64),
        ]
    return tuple(parts)


def _pixels(path, size, mode):
    """The pixels of an image, one colour after the other, as a row."""
    from PIL import Image

    with Image.open(path) as image:
        image = image.convert(mode)
        if image.size != size:
            image = image.resize(size, Image.Resampling.BILINEAR)
        pixels = np.asarray(image)
    return (pixels.transpose(2, 0, 1) if mode == "RGB" else pixels).reshape(-1)
