"""Kernels k(x, z): what they compute, and how blocks, rows and products of them are computed fast.

* :mod:`~kernbench.kernels.functions` -- the kernels as small frozen dataclasses;
* :mod:`~kernbench.kernels.names` -- from ``kernel="rbf", gamma="scale"`` to a kernel object;
* :mod:`~kernbench.kernels.blocks` -- K(X, Z) and K(X, Z) @ A;
* :mod:`~kernbench.kernels.rows` -- ``KernelRows``: rows in batches behind a bounded cache, counted;
* ``_operand`` (data), ``_engine`` (tiles), ``_tiles.h`` (loops), ``_simd.h`` (dispatch, exp) -- the compiled floors below.
"""

from kernbench.kernels.functions import Callable, Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed

__all__ = ["Callable", "Gaussian", "Kernel", "Laplacian", "Linear", "Polynomial", "Precomputed"]
