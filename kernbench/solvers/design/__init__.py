"""How the scores of a linear function are computed: from features or a kernel (see the compiled module)."""

from kernbench.kernels.rows import KernelRows
from kernbench.solvers.design._design import Design, FeatureDesign, KernelDesign, as_design

__all__ = ["Design", "FeatureDesign", "KernelDesign", "as_design", "design_of"]


def design_of(X, kernel=None, **options):
    """Return the design of features X or, with a kernel, of its matrix; `options` are those of `KernelRows`."""
    return as_design(X if kernel is None else KernelRows(X, kernel, **options))
