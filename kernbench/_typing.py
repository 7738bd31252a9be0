"""Types that the signatures of public functions and estimators share."""

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocsr(self, copy: bool = ...) -> Any:
        """Return its compressed rows."""


# Rows of X: an array or a table, or a sparse matrix.
Rows: TypeAlias = ArrayLike | SparseMatrix
# ``random_state``: None is NumPy's global state.
RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
# ``callback``: one, or several that are called in order; it stops the fit by returning a true value.
Callback: TypeAlias = Callable[..., Any] | list[Callable[..., Any]] | None
