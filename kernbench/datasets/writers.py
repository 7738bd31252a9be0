"""Write data files that the readers read, whole or not at all."""

import numpy as np
from scipy import sparse

from kernbench._files import written_whole
from kernbench.datasets.npz import CSR_PARTS


def write_svmlight(path, X, y):
    """Write examples in svmlight / LIBSVM format, indices from 1, 16 significant digits.

    Parameters
    ----------
    path : str or Path
    X : array-like or CSR matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers.
    """
    from sklearn.datasets import dump_svmlight_file  # slow to import; most data sets need none of it

    with written_whole(path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=False)


def write_npz(path, X, y):
    """Write examples as a compressed NumPy archive, bit for bit, in the layout of :func:`read_npz`.

    Parameters
    ----------
    path : str or Path
    X : array-like or CSR matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Numbers or strings.
    """
    y = np.asarray(y)
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
        arrays = {f"X_{part}": np.asarray(getattr(X, part)) for part in CSR_PARTS}
    else:
        arrays = {"X": np.asarray(X)}
    for name, array in {"y": y, **arrays}.items():
        if array.dtype.hasobject:
            raise ValueError(
                f"{name} holds Python objects; convert it to numbers (labels: or to strings) first"
            )
    with written_whole(path, "wb") as file:
        np.savez_compressed(file, y=y, **arrays)
