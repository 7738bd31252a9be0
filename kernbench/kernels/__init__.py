"""Kernels k(x, z): what they compute, and how blocks, rows and products of them are computed fast.

* the base class, sums and products of kernels: :mod:`~kernbench.kernels.base`; each family in a module of its own
  (`shift_invariant`, `inner_product`, `histogram`, `skewed`, `semigroup`, `custom`), all of them listed in
  :mod:`~kernbench.kernels.functions`;
* :mod:`~kernbench.kernels.names` -- from ``kernel="rbf", gamma="scale"`` to a kernel object;
* :mod:`~kernbench.kernels.nested` -- their parameters as those of an estimator, ``kernel__sigma``;
* :mod:`~kernbench.kernels.blocks` -- K(X, Z) and K(X, Z) @ A;
* :mod:`~kernbench.kernels.rows` -- ``KernelRows``: rows in batches, with a bounded cache and counters;
* :mod:`~kernbench.kernels.engine` -- the compiled part, with a diagram: rows are prepared, an engine is chosen, tiles
  of the kernel matrix are filled by all threads;
* :mod:`~kernbench.kernels.threads` -- how many threads, and what a fork needs: it is imported with every module that
  has parallel loops.
"""

from kernbench.kernels import functions, threads  # noqa: F401
from kernbench.kernels.functions import *  # noqa: F403

__all__ = [name for name in functions.__all__ if name != "KERNELS"]
