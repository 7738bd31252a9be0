"""Blocks of random features: each a function of its seed and number, for models that keep no frequencies."""

import numpy as np
from scipy import sparse

from kernbench.features.draws.spans import MAX_BLOCK, MAX_SEED, Span
from kernbench.features.maps.plan import plan
from kernbench.features.maps.rows import as_floats, prefers_sparse
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Kernel
from kernbench.validation.arrays import first_not_finite
from kernbench.validation.numbers import check_number


def feature_block(seed, block, n_columns, X, kernel, *, form="auto", draws="iid"):
    """Return one block of random features of a kernel.

    The matrix Z depends on `seed`, `block`, the kernel, `n_columns`, `form` and `draws` only: not on threads or
    on what was drawn before, and on the other rows only by rounding (of BLAS, for other numbers of rows). Its mean
    over seeds is E[Z Z'^T] = k(X, X').

    Parameters
    ----------
    seed : int
        From 0 to 2^64 - 1.
    block : int
        From 0 to 2^32 - 1. Blocks of one seed are independent (with ``draws="qmc"``: parts of one sequence).
    n_columns : int
    X : ndarray or CSR matrix of shape (n, d)
        float32 gives float32 features, anything else float64.
    kernel : Kernel
    form, draws : str
        As in `RandomFeatures`; ``"exact"`` is not a form of blocks, and ``"auto"`` never selects it.

    Returns
    -------
    ndarray of shape (n, n_columns)

    Raises
    ------
    ValueError
        For numbers out of range, rows outside the kernel's domain, and a kernel, form or draws that do not go
        together.

    Notes
    -----
    Columns b m to (b + 1) m of ``RandomFeatures(kernel, n, block_size=m, random_state=seed)`` are
    ``sqrt(m / n) * feature_block(seed, b, m, X, kernel)``, for a kernel that is not a sum.

    To use the same block for many batches of rows, draw it once with `FeatureBlocks`.
    """
    X = as_floats(X)
    blocks = FeatureBlocks(kernel, n_columns, X.shape[1], form=form, draws=draws)
    if not np.all(np.isfinite(X.data if sparse.issparse(X) else X)):
        raise ValueError(first_not_finite(X, None))
    check_range(X, kernel, X.dtype.name, wider="give X as float64")
    out = np.empty((X.shape[0], blocks.n_columns), dtype=X.dtype)
    by_entries = prefers_sparse(X)
    rows = X.toarray() if sparse.issparse(X) and not by_entries else X
    blocks.write(rows, blocks.draw(seed, block, X.dtype, sparse=by_entries), out)
    return out


class FeatureBlocks:
    """The blocks of one kernel: drawn by their number, written for any rows.

    Parameters
    ----------
    kernel : Kernel
    n_columns : int
        Of a block.
    n_features_in : int
        Columns of the rows.
    form, draws : str
    """

    def __init__(self, kernel, n_columns, n_features_in, *, form="auto", draws="iid"):
        if not isinstance(kernel, Kernel):
            raise ValueError(
                f"kernel must be a kernel object, such as kernbench.kernels.Gaussian(), got {kernel!r}"
            )
        self.kernel, self.n_columns = (
            kernel,
            int(check_number("n_columns", n_columns, at_least=1, whole=True)),
        )
        self._terms = plan(kernel, self.n_columns, n_features_in, form, draws, may_be_exact=False)

    def draw(self, seed, block, dtype, *, sparse=False):
        """Return what is drawn for a block, for rows of that precision, dense or sparse.

        Raises
        ------
        ValueError
            For a seed or a number out of range.
        """
        check_number("seed", seed, at_least=0, at_most=MAX_SEED, whole=True)
        check_number("block", block, at_least=0, at_most=MAX_BLOCK, whole=True)
        spans = [Span(int(seed), int(block), term.n_columns, term.n_columns) for term in self._terms]
        return [(span, term.map.draw(span, dtype, sparse)) for term, span in zip(self._terms, spans)]

    def write(self, X, drawn, out):
        """Write the features of checked rows X, of the kind that was drawn for, to out (n, n_columns)."""
        for term, (span, numbers) in zip(self._terms, drawn):
            term.write(X, numbers, span, out[:, term.first_column : term.first_column + term.n_columns])
