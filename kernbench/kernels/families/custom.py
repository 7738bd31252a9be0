"""Precomputed kernel matrices and kernels that are Python functions."""

from collections.abc import Callable as CallableType
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from kernbench._typing import Rows
from kernbench.kernels.base import Kernel
from kernbench.validation.objects import function_rows


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself is given in place of X: X[i, j] = k(x_i, z_j)."""

    routine: ClassVar[str] = "precomputed"
    is_semi_definite: ClassVar[bool] = False

    def diagonal(self, X: Rows) -> Any:
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"a precomputed training kernel must be square, got shape {X.shape}")
        return np.asarray(X.diagonal() if sparse.issparse(X) else np.diagonal(X), dtype=np.float64)


@dataclass(frozen=True)
class Callable(Kernel):
    """A Python function ``function(X, Z) -> matrix of shape (len(X), len(Z))``, dense or sparse.

    The function is called with batches of rows, so that a vectorised function is fast; for k(x, x) alone, with one row
    at a time.

    Parameters
    ----------
    function : callable
    """

    function: CallableType
    routine: ClassVar[str] = "callable"
    calls_python: ClassVar[bool] = True
    is_semi_definite: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"Callable: function must be callable, got {self.function!r}")

    def diagonal(self, X: Rows) -> Any:
        return np.array([self.values(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])], dtype=np.float64)

    def values(self, X: Rows, Z: Any, dtype: Any = np.float64) -> Any:
        """Return what the function returns, checked; it is never called with empty rows.

        Raises
        ------
        ValueError
            If the result is not a matrix of finite real numbers, one per pair of rows.
        """
        shape = (X.shape[0], Z.shape[0])
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        answer = self.function(function_rows(X), function_rows(Z))
        answer = answer.toarray() if sparse.issparse(answer) else np.asarray(answer)
        if answer.shape != shape:
            raise ValueError(
                f"the kernel function returned shape {answer.shape} for {shape[0]} rows against "
                f"{shape[1]}; it must return {shape}"
            )
        if answer.dtype.kind not in "biuf":
            raise ValueError(f"the kernel function returned values of type {answer.dtype}; they must be real numbers")
        with np.errstate(over="ignore"):
            answer = np.ascontiguousarray(answer, dtype=dtype)
        if not np.all(np.isfinite(answer)):
            raise ValueError(f"the kernel function returned NaN or infinity (in {np.dtype(dtype)})")
        return answer
