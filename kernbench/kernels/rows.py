"""Rows of a training kernel matrix, in batches, with a bounded cache (see the compiled module)."""

from kernbench.kernels._cached_rows import DEFAULT_CACHE_BYTES
from kernbench.kernels._rows import KernelRows

__all__ = ["DEFAULT_CACHE_BYTES", "KernelRows"]
