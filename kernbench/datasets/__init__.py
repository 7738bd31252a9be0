"""Data sets by name, and readers of data files.

Three kinds of sets answer to one call, ``load(name)``. Labels are -1 and +1, but in the few sets whose
``task`` is another.

* *generated*: drawn from a documented formula by a seed, with as many examples as asked for (`generators`,
  `generators_sparse`, and `generators_roc` with known population AUC); they need no file and no network;
* *bundled*: shipped with scikit-learn;
* *full* (or a *subset*, named as such): real sets as published (`real`). Their files are looked for in the
  folder that the environment variable ``KERNBENCH_DATA`` names, then in the cache folder
  (``KERNBENCH_CACHE``, or the user's cache folder), then downloaded; the SHA-256 of the unpacked content is
  checked in each case (`folders`, `checksums`, `storage`).

``read_file`` reads data of one's own: svmlight / LIBSVM text (`svmlight`), tables (`delimited`) and NumPy
archives (`npz`), each plain or packed (`packed`). What is wrong in a file is said with its name, line and
column, in a ``DataFileError`` (a ``ValueError``).

>>> from kernbench.datasets import load
>>> load("checkerboard", n_train=500, n_test=100, seed=1).X_train.shape
(500, 2)
"""

from kernbench.datasets.base import Dataset
from kernbench.datasets.errors import ChecksumMismatch, DataFileError, DatasetUnavailable
from kernbench.datasets.folders import cache_folder
from kernbench.datasets.loading import available, describe, fetch, load, verify
from kernbench.datasets.readers import read_csv, read_file, read_npz, read_svmlight
from kernbench.datasets.writers import write_npz, write_svmlight

__all__ = [
    "ChecksumMismatch",
    "DataFileError",
    "Dataset",
    "DatasetUnavailable",
    "available",
    "cache_folder",
    "describe",
    "fetch",
    "load",
    "read_csv",
    "read_file",
    "read_npz",
    "read_svmlight",
    "verify",
    "write_npz",
    "write_svmlight",
]
