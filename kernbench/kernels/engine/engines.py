"""The choice of an engine."""

from kernbench.kernels.engine._combined_engine import CombinedEngine
from kernbench.kernels.engine._engine import Engine, PythonEngine
from kernbench.kernels.engine._gemm_engine import GemmEngine
from kernbench.kernels.engine._sparse_engine import SparseEngine
from kernbench.kernels.engine.coordinates._coordinates_engine import CoordinatesEngine

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
        engines = [
            make_engine(*component) for component in zip(kernel.components, X.components, Z.components)
        ]
        return CombinedEngine(kernel, X, Z, engines, kernel.constants or (1.0,) * len(engines))
    if kernel.routine == "callable":
        return PythonEngine(kernel, X, Z)
    if X.prepared.storage != Z.prepared.storage:
        raise ValueError(f"queries are stored as {X.prepared.storage}, columns as {Z.prepared.storage}")
    return BY_STORAGE[Z.prepared.storage](kernel, X, Z)
