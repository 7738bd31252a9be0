"""Data sets by name, and readers of data files.

``load(name)`` returns a set of one of three kinds, most of them with labels -1 and +1:

* *generated*: drawn from a documented formula by a seed, in any size, without files or network (`generated`);
* *bundled*: shipped with scikit-learn;
* *full*, or a *subset* named as such: published sets (`real`). Their files are looked for in the folder
  ``KERNBENCH_DATA`` and in the cache folder (``KERNBENCH_CACHE``, or the user's cache folder), then downloaded; the
  SHA-256 of the decompressed content is verified in each case (`files`).

``stream(name)`` opens an endless set, such as ``mnist-deformed``; `load` takes as many of its examples as one asks for.

``read_file`` reads files of the user's own (`readers`): svmlight / LIBSVM text, tables and NumPy archives, plain or
compressed. A fault in a file is reported with its name, line and column in a ``DataFileError``, a ``ValueError``.
``load_own`` splits such a file into a training and a test part; ``chunks`` reads one that does not fit memory, some
rows at a time.

>>> from kernbench.datasets import load
>>> load("checkerboard", n_train=500, n_test=100, seed=1).X_train.shape
(500, 2)
"""

from kernbench.datasets.base import Dataset
from kernbench.datasets.errors import ChecksumMismatch, DataFileError, DatasetUnavailable
from kernbench.datasets.files.folders import cache_folder
from kernbench.datasets.loading import available, describe, fetch, load, stream, verify
from kernbench.datasets.own import load_own
from kernbench.datasets.readers.chunks import chunks
from kernbench.datasets.readers.delimited import read_csv
from kernbench.datasets.readers.detect import read_file
from kernbench.datasets.readers.npz import read_npz, write_npz
from kernbench.datasets.readers.svmlight import read_svmlight, write_svmlight

__all__ = [
    "ChecksumMismatch",
    "DataFileError",
    "Dataset",
    "DatasetUnavailable",
    "available",
    "cache_folder",
    "chunks",
    "describe",
    "fetch",
    "load",
    "load_own",
    "read_csv",
    "read_file",
    "read_npz",
    "read_svmlight",
    "stream",
    "verify",
    "write_npz",
    "write_svmlight",
]
