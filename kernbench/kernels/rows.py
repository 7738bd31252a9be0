"""Rows of a training kernel matrix in batches, behind a bounded cache (see the compiled module for the text)."""

from kernbench.kernels._rows import DEFAULT_CACHE_BYTES, KernelRows

__all__ = ["DEFAULT_CACHE_BYTES", "KernelRows"]
