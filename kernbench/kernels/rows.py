"""Rows of a training kernel matrix, in batches, with a bounded cache (see the compiled module)."""

from kernbench.kernels._cached_rows import DEFAULT_CACHE_BYTES
from kernbench.kernels._rows import KernelRows

__all__ = ["DEFAULT_CACHE_BYTES", "KernelRows", "MatrixRows"]


class MatrixRows(KernelRows):
    """Rows for solvers that take the whole matrix, each of which keeps it for the next one.

    Attributes
    ----------
    shared : dict
        What solvers on these rows have in common.
    """

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.shared = {}
