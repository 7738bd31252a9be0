"""Rows of a training kernel matrix, in batches, with a bounded cache (see the compiled module)."""

from kernbench.kernels._rows import DEFAULT_CACHE_BYTES, KernelRows

__all__ = ["DEFAULT_CACHE_BYTES", "KernelRows"]
