"""A data set as experiments see it."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training and a test part, and where they come from.

    Attributes
    ----------
    name : str
    X_train, X_test : ndarray or CSR matrix of shape (n, n_features)
    y_train, y_test : ndarray of shape (n,)
        int64 labels: -1 and +1 in a binary set, from 0 up in a multi-class one; float64 targets of a
        regression.
    kind : {"full", "subset", "generated", "bundled"}
        ``"full"``: a published set, all of its examples. ``"subset"``: a part of a published or bundled set.
        ``"generated"``: drawn from a formula. ``"bundled"``: shipped with scikit-learn, all of it.
    description : str
        What the set is, how it was scaled, split and drawn; fit to stand under a table.
    source : str
        The page of its origin, or the function that draws it.
    checksum : str
        SHA-256 in hexadecimal: of the unpacked file for a real set (several files: see
        :func:`kernbench.datasets.storage.combined_checksum`), of the arrays otherwise.
    task : {"binary", "multi-class", "regression"}
    population_auc : float or None
        The AUC of the best score over the whole population, where the formula of a generated set gives it:
        what no method can pass but by chance. In [0, 1].
    """

    name: str
    X_train: np.ndarray | sparse.csr_matrix = field(repr=False)
    y_train: np.ndarray = field(repr=False)
    X_test: np.ndarray | sparse.csr_matrix = field(repr=False)
    y_test: np.ndarray = field(repr=False)
    kind: str
    description: str
    source: str
    checksum: str
    task: str = "binary"
    population_auc: float | None = None

    @property
    def n_features(self):
        """Number of columns."""
        return self.X_train.shape[1]

    @property
    def n_train(self):
        """Number of training examples."""
        return self.X_train.shape[0]

    @property
    def n_test(self):
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
