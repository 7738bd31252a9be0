"""Published sets whose test part is drawn again for each repeat."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from kernbench.datasets import load
from kernbench.datasets.real.preparation import split


def pooled(name, split_seed, **options):
    """The training and test parts of a set, pooled and split again into parts of the same sizes, stratified."""
    data = load(name, **options)
    stack = sparse.vstack if sparse.issparse(data.X_train) else np.vstack
    X = stack([data.X_train, data.X_test])
    if sparse.issparse(X):
        X = X.tocsr()
    y = np.concatenate([data.y_train, data.y_test])
    X_train, y_train, X_test, y_test = split(X, y, data.n_train, split_seed)
    description = f"{data.description} Both parts pooled and split again with seed {split_seed}."
    return replace(data, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test, description=description)
