"""Blocks of random features: each a function of its seed and number, for models that keep no frequencies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from kernbench._typing import Rows
from kernbench.features.draws.spans import MAX_BLOCK, MAX_SEED, Span
from kernbench.features.maps.plan import plan
from kernbench.features.maps.rows import as_floats, prefers_sparse, row_slices
from kernbench.kernels.blocks import as_rows, checked_rows
from kernbench.kernels.domain import check_range
from kernbench.kernels.functions import Kernel
from kernbench.kernels.threads import single_threaded_blas
from kernbench.validation.numbers import check_number


def feature_block(
    seed: int, block: int, n_columns: int, X: Rows, kernel: Kernel, *, form: str = "auto", draws: str = "iid"
) -> np.ndarray:
    """Return one block of random features of a kernel.

    The features Z of rows X depend only on `seed`, `block`, the kernel, `n_columns`, `form` and `draws`: not on threads
    or on what was drawn before, and on the other rows only by rounding (BLAS may round differently for other numbers of
    rows). The mean of Z Z'^T over seeds is k(X, X').

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
    ``sqrt(m / n) * feature_block(seed, b, m, X, kernel)``, for a kernel that is not a sum, features of the same form
    (of Linear and Hellinger ``form="random"``), n a multiple of m, and an m that is made of whole draws, such as pairs.

    To use the same block for many batches of rows, draw it once with `FeatureBlocks`.
    """
    X = as_rows(X)
    blocks = FeatureBlocks(kernel, n_columns, X.shape[1], form=form, draws=draws)
    X = as_floats(checked_rows(kernel, X))
    check_range(X, kernel, X.dtype.name, wider="give X as float64")
    return blocks.features(X, seed, block)


class FeatureBlocks:
    """Blocks of random features of one kernel: draw a block by its number, compute its features, or multiply by them.

    Parameters
    ----------
    kernel : Kernel
    n_columns : int
        Columns of a block.
    n_features_in : int
        Columns of the rows.
    form, draws : str
        As in `feature_block`.
    cache_bytes : int, default=0
        Memory for the random numbers of `multiply`: the first blocks that are used are kept as long as there is room;
        the others are drawn again each time.
    second_stream : bool, default=False
        Blocks of a second stream, independent of those of the first with the same seed and number.
    """

    kernel: Any
    n_columns: int

    def __init__(
        self,
        kernel: Kernel,
        n_columns: int,
        n_features_in: int,
        *,
        form: str = "auto",
        draws: str = "iid",
        cache_bytes: int = 0,
        second_stream: bool = False,
    ) -> None:
        if not isinstance(kernel, Kernel):
            raise ValueError(f"kernel must be a kernel object, such as kernbench.kernels.Gaussian(), got {kernel!r}")
        self.kernel, self.n_columns = (kernel, int(check_number("n_columns", n_columns, at_least=1, whole=True)))
        self._n_features_in = n_features_in
        self._terms = plan(kernel, self.n_columns, n_features_in, form, draws, may_be_exact=False)
        self._cache, self._sizes, self._room, self._second = {}, {}, cache_bytes, second_stream

    def draw(self, seed: Any, block: Any, dtype: Any, *, sparse: bool = False) -> Any:
        """Return the random numbers of a block, for rows of that precision, dense or sparse.

        Raises
        ------
        ValueError
            For a seed or a number out of range.
        """
        check_number("seed", seed, at_least=0, at_most=MAX_SEED, whole=True)
        check_number("block", block, at_least=0, at_most=MAX_BLOCK, whole=True)
        spans = [Span(int(seed), int(block), term.n_columns, term.n_columns, self._second) for term in self._terms]
        return [(span, term.map.draw(span, dtype, sparse)) for term, span in zip(self._terms, spans)]

    def write(self, X: Rows, drawn: Any, out: Any) -> None:
        """Write the features of checked rows X to `out`, (n, n_columns); `drawn` is for rows of this kind."""
        self._check_width(X)
        for term, (span, numbers) in zip(self._terms, drawn):
            term.write(X, numbers, span, out[:, term.first_column : term.first_column + term.n_columns])

    def features(self, X: Rows, seed: Any, block: Any) -> Any:
        """Return the features of checked rows X, shape (n, n_columns), of X's precision."""
        out = np.empty((X.shape[0], self.n_columns), dtype=X.dtype)
        by_entries = prefers_sparse(X)
        rows = X.toarray() if sparse.issparse(X) and not by_entries else X
        self.write(rows, self.draw(seed, block, X.dtype, sparse=by_entries), out)
        return out

    def multiply(
        self, X: Rows, seed: int, blocks: Sequence[Any], A: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return sum_b Z_b A_b over blocks b with features Z_b, without storing these.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features_in)
            Checked, float32 or float64; products are computed in that precision, and added up in float64.
        seed : int
        blocks : sequence of int
            Runs of consecutive numbers are fastest.
        A : ndarray of shape (n_blocks, n_columns, n_outputs)
        out : ndarray of shape (n, n_outputs), float64, optional
            The sum is added to it.

        Returns
        -------
        ndarray of shape (n, n_outputs)
            It does not depend on the number of threads.

        Raises
        ------
        ValueError
            For a seed or numbers out of range, and for X or A of another shape.
        """
        self._check_width(X)
        check_number("seed", seed, at_least=0, at_most=MAX_SEED, whole=True)
        blocks = _checked_blocks(blocks)
        if A.shape[:2] != (len(blocks), self.n_columns):
            raise ValueError(f"{len(blocks)} blocks of {self.n_columns} columns, but A has shape {A.shape}")
        out = np.zeros((X.shape[0], A.shape[2])) if out is None else out
        by_entries = prefers_sparse(X)
        if sparse.issparse(X) and not by_entries:
            X = X.toarray()
        with single_threaded_blas():
            for k, term in enumerate(self._terms):
                columns = slice(term.first_column, term.first_column + term.n_columns)
                at_once = term.map.blocks_at_once(term.n_columns)
                rows = term.map.prepare(X)
                for start, stop in _runs(blocks, at_once):
                    group, first = divmod(int(blocks[start]), at_once)
                    span, drawn = self._drawn(k, seed, group, at_once, X.dtype, by_entries)
                    which = slice(first, first + stop - start)
                    term.multiply(rows, drawn, span, which, A[start:stop, columns], out)
                    self._count_again(_key(k, seed, group, X.dtype, by_entries))
        return out

    def transposed(self, X: Rows, seed: int, block: int, G: np.ndarray) -> Any:
        """Return Z_b^T G of one block, shape (n_columns, n_outputs), float64.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features_in)
        seed, block : int
        G : ndarray of shape (n, n_outputs)
        """
        total = np.zeros((self.n_columns, G.shape[1]))
        with single_threaded_blas():
            for part in row_slices(X.shape[0], self.n_columns):
                features = self.features(X[part], seed, block)
                total += features.T @ G[part].astype(features.dtype, copy=False)
        return total

    def _check_width(self, X):
        """Raise ValueError for rows of another width, which the loops over their entries would not notice."""
        if X.shape[1] != self._n_features_in:
            raise ValueError(f"X has {X.shape[1]} columns, but the blocks are for rows of {self._n_features_in}")

    def _drawn(self, k, seed, group, at_once, dtype, by_entries):
        """Return the span of a group of blocks of term k, and what is drawn for it."""
        key = _key(k, seed, group, dtype, by_entries)
        found = self._cache.get(key)
        if found is not None:
            return found
        term = self._terms[k]
        first = group * at_once
        n_blocks = min(at_once, MAX_BLOCK + 1 - first)
        span = Span(int(seed), first, n_blocks * term.n_columns, term.n_columns, self._second)
        drawn = span, term.map.draw(span, dtype, by_entries)
        size = _size_of(drawn[1])
        if size <= self._room:
            self._cache[key], self._sizes[key], self._room = drawn, size, self._room - size
        return drawn

    def _count_again(self, key):
        """Update the size of cached draws, to which a map may have added float64 frequencies; drop them if needed."""
        kept = self._cache.get(key)
        if kept is None:
            return
        size = _size_of(kept[1])
        self._room -= size - self._sizes.get(key, size)
        self._sizes[key] = size
        if self._room < 0 and self._cache.pop(key, None) is not None:  # another thread may have been faster
            self._room += size


def _checked_blocks(blocks):
    """Return numbers of blocks as an array of int64; raise ValueError unless they are integers in their range."""
    numbers = np.asarray(blocks)
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() > MAX_BLOCK):
        raise ValueError(f"blocks must be integers of at least 0 and at most {MAX_BLOCK}, got {blocks!r}")
    return numbers.astype(np.int64, copy=False)


def _key(k, seed, group, dtype, by_entries):
    return k, seed, group, np.dtype(dtype).name, by_entries


def _runs(blocks, at_once):
    """Yield start and stop of runs of consecutive blocks of one group of `at_once`."""
    ends = np.flatnonzero((np.diff(blocks) != 1) | (blocks[1:] % at_once == 0)) + 1
    edges = [0, *ends.tolist(), len(blocks)] if len(blocks) else [0]
    yield from zip(edges[:-1], edges[1:])


def _size_of(drawn):
    """Return the bytes of all arrays in what a map has drawn."""
    if isinstance(drawn, np.ndarray):
        return drawn.nbytes
    parts = drawn if isinstance(drawn, list | tuple) else vars(drawn).values() if hasattr(drawn, "__dict__") else ()
    return sum(_size_of(part) for part in parts)
