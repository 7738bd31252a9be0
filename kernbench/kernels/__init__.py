"""Kernels k(x, z): what they compute, and how blocks, rows and products of them are computed fast.

* what a kernel is: :mod:`~kernbench.kernels.base`; each family in a module of its own
  (`shift_invariant`, `inner_product`, `histogram`, `skewed`, `semigroup`, `combined`, `custom`), all of them listed in
  :mod:`~kernbench.kernels.functions`;
* :mod:`~kernbench.kernels.names` -- from ``kernel="rbf", gamma="scale"`` to a kernel object;
* :mod:`~kernbench.kernels.blocks` -- K(X, Z) and K(X, Z) @ A;
* :mod:`~kernbench.kernels.rows` -- ``KernelRows``: rows in batches behind a bounded cache, counted;
* ``_operand`` (data), ``_engine`` (tiles), ``_tiles.h`` (loops), ``_simd.h`` (dispatch, exp) -- the compiled floors below.
"""

from kernbench.kernels import functions
from kernbench.kernels.functions import *  # noqa: F403

__all__ = [name for name in functions.__all__ if name != "KERNELS"]
