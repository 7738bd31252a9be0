"""The choice of an engine."""

import numpy as np

from kernbench.kernels.constants import EPS
from kernbench.kernels.engine._combined_engine import CombinedEngine
from kernbench.kernels.engine._engine import Engine, PythonEngine
from kernbench.kernels.engine._gemm_engine import GemmEngine
from kernbench.kernels.engine._sparse_engine import SparseEngine
from kernbench.kernels.engine.coordinates._coordinates_engine import CoordinatesEngine
from kernbench.kernels.engine.operands._operand import Operand

# Largest error of the exponent of a Gaussian kernel (some roundings of the squared norms) for which it is computed from
# inner products; above, from squared differences. By storage and precision: in float32 it is reached by rows 20 length
# scales from the centre, in float64, where more digits are expected, by rows 2,000 away. For rows so far apart, bounds
# on the rounding of inner products exceed the objective. Blocks of differences take 1.1 (up to 10 columns), 1.3 (20),
# 1.5 (100) and 2.2 times (500) as long as blocks of inner products, with sparse rows 4 to 10 times as long, so that
# estimators prefer float64 there. Blocks without such distant rows use inner products.
#
# Sums of differences need dense rows. Rows with few stored entries, which are mostly wide, stay sparse: inner products
# show which of the distant rows are near each other, and only for those pairs differences of entries are squared.
COARSE = {
    ("dense", np.dtype(np.float32)): 5e-5,
    ("dense", np.dtype(np.float64)): 1e-9,
    ("csr", np.dtype(np.float32)): 0.01,
    ("csr", np.dtype(np.float64)): 1e-9,
}

# Share of stored entries below which rows are thin: even if all are near each other, so that columns are compared for
# each entry, they take no longer than dense ones.
THIN = 1 / 64

BY_STORAGE = {"dense": GemmEngine, "strips": CoordinatesEngine, "csr": SparseEngine, "matrix": Engine}


def make_engine(kernel, X, Z):
    """Return the engine of k(X, Z).

    Parameters
    ----------
    kernel : Kernel
    X, Z : Operand
        Queries and columns, prepared alike.
    """
    if kernel.components:
        engines = [make_engine(*component) for component in zip(kernel.components, X.components, Z.components)]
        return CombinedEngine(kernel, X, Z, engines, kernel.constants or (1.0,) * len(engines))
    if kernel.routine == "callable":
        return PythonEngine(kernel, X, Z)
    same = X is Z
    if kernel.routine == "gaussian" and _is_coarse((X,) if same else (X, Z)):
        dtype = Z.prepared.data.dtype
        if _is_thin((X, Z)):
            return SparseEngine(kernel, X, Z, kernel.norm_factor * largest_square("csr", dtype))
        kernel = kernel.of_differences()
        Z = Operand(Z.source, kernel, dtype)
        X = Z if same else Operand(X.source, kernel, dtype, Z)
    if X.prepared.storage != Z.prepared.storage:
        raise ValueError(f"queries are stored as {X.prepared.storage}, columns as {Z.prepared.storage}")
    return BY_STORAGE[Z.prepared.storage](kernel, X, Z)


def largest_square(storage, dtype):
    """Return the largest squared norm of prepared rows of which a Gaussian kernel takes inner products."""
    return COARSE.get((storage, np.dtype(dtype)), np.inf) / EPS[np.dtype(dtype)]


def _is_coarse(operands):
    """Return whether the roundings of squared norms of prepared rows are too large for inner products."""
    storage, dtype = operands[-1].prepared.storage, operands[-1].prepared.terms.dtype
    largest = max(2.0 * float(operand.prepared.terms.max(initial=0.0)) for operand in operands)
    return largest > largest_square(storage, dtype)


def _is_thin(operands):
    """Return whether prepared rows are CSR of few entries, with squared norms whose sums do not overflow."""
    rows = [operand.prepared for operand in operands]
    if any(part.storage != "csr" for part in rows):
        return False
    n_stored, n_rows, d = sum(len(part.columns) for part in rows), sum(part.shape[0] for part in rows), rows[0].shape[1]
    largest = max(float(part.terms.max(initial=0.0)) for part in rows)
    return n_stored < THIN * n_rows * d and largest < np.finfo(rows[0].terms.dtype).max / 8.0
