"""The choice of an engine."""

from kernbench.kernels.constants import EPS
from kernbench.kernels.engine._combined_engine import CombinedEngine
from kernbench.kernels.engine._engine import Engine, PythonEngine
from kernbench.kernels.engine._gemm_engine import GemmEngine
from kernbench.kernels.engine._sparse_engine import SparseEngine
from kernbench.kernels.engine.coordinates._coordinates_engine import CoordinatesEngine
from kernbench.kernels.engine.operands._operand import Operand

# Error of the exponent of a Gaussian kernel, some roundings of the squared norms, from which differences are squared.
COARSE = 0.01

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
    if kernel.routine == "gaussian" and max(map(_rounding, (X,) if same else (X, Z))) > COARSE:
        kernel, dtype = kernel.of_differences(), Z.prepared.data.dtype
        Z = Operand(Z.source, kernel, dtype)
        X = Z if same else Operand(X.source, kernel, dtype, Z)
    if X.prepared.storage != Z.prepared.storage:
        raise ValueError(f"queries are stored as {X.prepared.storage}, columns as {Z.prepared.storage}")
    return BY_STORAGE[Z.prepared.storage](kernel, X, Z)


def _rounding(operand):
    """Return the rounding error of the largest squared norm of prepared rows."""
    terms = operand.prepared.terms
    return EPS[terms.dtype] * 2.0 * float(terms.max(initial=0.0))
