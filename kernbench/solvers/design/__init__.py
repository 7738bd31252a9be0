"""How the scores of a linear function are computed: from features or a kernel (see the compiled module)."""

from scipy import sparse

from kernbench.kernels.rows import KernelRows
from kernbench.solvers.design._block_design import BlockDesign
from kernbench.solvers.design._design import Design, FeatureDesign, KernelDesign
from kernbench.validation.arrays import check_indices, without_room

__all__ = ["BlockDesign", "Design", "FeatureDesign", "KernelDesign", "as_design", "design_of"]


def as_design(X):
    """Return the design of features or of a kernel.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features), RowBlocks or KernelRows
        Arrays of float32 or float64 in C order and CSR matrices are not copied. Of kernel rows the whole matrix is kept
        if it fits their cache; otherwise it is multiplied tile by tile. A design is returned as it is.

    Returns
    -------
    FeatureDesign, BlockDesign or KernelDesign
    """
    if isinstance(X, Design):
        return X
    if hasattr(X, "moments"):
        return BlockDesign(X)
    if hasattr(X, "matvec"):
        return KernelDesign(X)
    if sparse.issparse(X):
        check_indices(X)
        X = without_room(X)
    return FeatureDesign(X)


def design_of(X, kernel=None, **options):
    """Return the design of features X or, with a kernel, of its matrix; `options` are those of `KernelRows`."""
    return as_design(X if kernel is None else KernelRows(X, kernel, **options))
