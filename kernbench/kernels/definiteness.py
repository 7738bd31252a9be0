"""Whether a kernel is positive semi-definite on given rows, as far as some of them show."""

import numpy as np

from kernbench.kernels.blocks import block
from kernbench.kernels.domain import is_precomputed

N_ROWS = 300  # an eigenvalue decomposition of a few milliseconds
ROUNDING = 1e-9  # of the largest eigenvalue


def lowest_eigenvalue(kernel, X):
    """Return the lowest eigenvalue of the kernel matrix of evenly spaced rows, or 0 unless it is clearly negative.

    A negative one proves that the whole matrix is indefinite, since its eigenvalues interlace those of a principal
    submatrix; 0 proves nothing.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Checked rows; the kernel matrix itself if `kernel` is precomputed.
    """
    some = np.unique(np.linspace(0, X.shape[0] - 1, N_ROWS).astype(np.intp))
    rows = X[some]
    K = rows[:, some].astype(np.float64) if is_precomputed(kernel) else block(kernel, rows, dtype=np.float64)
    values = np.linalg.eigvalsh((K + K.T) / 2)  # only the symmetric part enters the quadratic form
    return float(values[0]) if values[0] < -ROUNDING * np.abs(values).max() else 0.0
