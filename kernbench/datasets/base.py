"""A data set in memory."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training and a test part, with their origin.

    Attributes
    ----------
    name : str
    X_train, X_test : ndarray or CSR matrix of shape (n, n_features)
    y_train, y_test : ndarray of shape (n,)
        int64 labels: -1 and +1 of a binary set, 0, 1, … of a multi-class set; float64 targets of a regression.
    kind : {"own", "full", "subset", "generated", "bundled"}, default="own"
        ``"full"``: all examples of a published set. ``"subset"``: a part of a published or bundled set.
        ``"generated"``: drawn from a formula. ``"bundled"``: all examples of a set shipped with scikit-learn.
        ``"own"``: a file, or arrays, of the user's.
    description : str, default=""
        A caption: the source of the set, and how it was scaled, split and drawn.
    source : str, default=""
        The page on which it is published, or the function that draws it.
    checksum : str, default=None
        SHA-256 in hexadecimal: of the decompressed file of a published set (several files: see
        ``combined_checksum`` in ``datasets.files.remote``), of the arrays otherwise, which None stands for.
    task : {"binary", "multi-class", "regression"}, default="binary"
    population_auc : float or None, default=None
        The AUC of the optimal score over the whole population, an upper bound on the expected AUC of any method;
        None if it is not known.
    """

    name: str
    X_train: np.ndarray | sparse.csr_matrix = field(repr=False)
    y_train: np.ndarray = field(repr=False)
    X_test: np.ndarray | sparse.csr_matrix = field(repr=False)
    y_test: np.ndarray = field(repr=False)
    kind: str = "own"
    description: str = ""
    source: str = ""
    checksum: str | None = None
    task: str = "binary"
    population_auc: float | None = None

    def __post_init__(self) -> None:
        if self.checksum is None:
            arrays = self.X_train, self.y_train, self.X_test, self.y_test
            object.__setattr__(self, "checksum", array_checksum(*arrays))

    @property
    def n_features(self) -> Any:
        """Number of columns."""
        return self.X_train.shape[1]

    @property
    def n_train(self) -> Any:
        """Number of training examples."""
        return self.X_train.shape[0]

    @property
    def n_test(self) -> Any:
        """Number of test examples."""
        return self.X_test.shape[0]


def array_checksum(*arrays):
    """SHA-256 over types, shapes and bytes of arrays and CSR matrices, in hexadecimal."""
    digest = hashlib.sha256()
    for array in arrays:
        parts = (array.data, array.indices, array.indptr) if sparse.issparse(array) else (array,)
        digest.update(repr(array.shape).encode())
        for part in parts:
            digest.update(part.dtype.str.encode())
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
