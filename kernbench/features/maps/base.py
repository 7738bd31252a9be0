"""Feature maps of one term of a kernel: what is drawn for a span of columns, and how rows become features.

Every map has

* ``columns_per_draw``, and ``block_columns(block_size)``: how many of at most `block_size` columns make whole
  draws;
* ``draw(span, dtype, sparse)``: whatever the map needs of a span, for rows of that precision and kind;
* ``write(X, drawn, span, share, out)``: the features of a few rows. ``share`` is the weight of one column:
  over all columns of a term it sums to the term's weight, so that inner products of features come out
  unbiased;
* ``row_values``: how many values ``write`` holds for each row beside ``out``;
* ``multiply(rows, drawn, span, blocks, share, A, out)``: features of some blocks of a span, times coefficients, of the
  rows that ``prepare(X)`` returned; ``blocks_at_once``: how many blocks it works best on.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from kernbench.features.draws.fastfood import draw_factors, padded_length
from kernbench.features.draws.frequencies import draw_frequencies
from kernbench.features.draws.spans import Purpose, segments
from kernbench.features.draws.spectral_densities import SPECTRAL_DENSITIES, in_precision, length_scale
from kernbench.features.maps.forms import FOURIER, LAPLACE, SIGNED
from kernbench.features.maps.projections._fastfood import project_fastfood
from kernbench.features.maps.projections._products import multiply_dense, multiply_sparse
from kernbench.features.maps.projections._projection import DENSE_DRAWS, PANEL, project_dense, project_sparse
from kernbench.features.maps.rows import indices_of, is_lifted, lifted, row_slices
from kernbench.kernels.base import squared_norms
from kernbench.kernels.functions import Matern
from kernbench.kernels.threads import single_threaded_blas

FAR = 512.0  # length of a row, in units of the kernel, beyond which float32 cannot hold its arguments
NO_VARIANCE = 1.0  # Matérn frequencies with nu up to this have none
DRAWS_AT_ONCE, VALUES_AT_ONCE = 2048, 2**18  # frequencies, and their entries, that are drawn together


class FeatureMap:
    """What maps share."""

    columns_per_draw = 1
    row_values = 0

    def block_columns(self, block_size):
        return max(self.columns_per_draw, block_size // self.columns_per_draw * self.columns_per_draw)

    def blocks_at_once(self, block_columns):
        return 1

    def prepare(self, X):
        return X

    def multiply(self, rows, drawn, span, blocks, share, A, out):
        """Add features times coefficients to out; here of all blocks of the span, through the features.

        Parameters
        ----------
        rows : object
            The result of `prepare`.
        drawn : object
        span : Span
        blocks : slice
            The blocks of the span.
        share : float
        A : ndarray of shape (n_blocks, block_columns, n_outputs)
        out : ndarray of shape (n, n_outputs), float64
        """
        for part in row_slices(rows.shape[0], max(span.n_columns, self.row_values)):
            features = np.empty((part.stop - part.start, span.n_columns), dtype=rows.dtype)
            self.write(rows[part], drawn, span, share, features)
            out[part] += features @ A.reshape(span.n_columns, -1).astype(features.dtype, copy=False)


class ExactMap(FeatureMap):
    """The lifted rows themselves: all of the kernel, nothing drawn."""

    def __init__(self, kernel):
        self.kernel = kernel

    def block_columns(self, block_size):
        return 2**62  # one block, however many columns

    def draw(self, span, dtype, sparse=False):
        return None

    def write(self, X, drawn, span, share, out):
        rows, _ = lifted(self.kernel, X, np.float64)
        weight = np.sqrt(share * span.n_columns)
        out[:] = (rows.toarray() if sparse.issparse(rows) else rows) * weight


@dataclass
class Frequencies:
    """Drawn frequencies.

    Attributes
    ----------
    matrix : ndarray, or Factors
        (n_draws, d) for dense rows, panels (n_segments, d, PANEL) for sparse ones, the factors of Fastfood.
    offsets : ndarray of shape (n_draws,), or None
        Phases.
    wide : Frequencies or None
        The same in float64, for rows that need it.
    """

    matrix: object
    offsets: np.ndarray | None = None
    wide: "Frequencies | None" = field(default=None)


@dataclass(frozen=True)
class PreparedRows:
    """Some of the rows that a projection is applied to.

    Attributes
    ----------
    X : ndarray or CSR matrix
        Lifted, in the precision of the arguments.
    zeros : tuple of float
        The values that entries of 0 are lifted to, see `lifted`.
    which : slice or ndarray of int
        Indices of these rows among all rows.
    wide : bool
        Whether they need frequencies in float64 though features are float32.
    """

    X: object
    zeros: tuple
    which: object
    wide: bool


class ProjectionMap(FeatureMap):
    """phi(x) = scale * finish(<w, x> + b), x lifted.

    Parameters
    ----------
    factors : sequence of (int, Kernel)
        Index and kernel. More than one only of those whose features multiply to one of the same kind:
        cosines, or exponentials, whose arguments add up.
    d : int
    form, draws : str
    """

    def __init__(self, factors, d, form, draws="iid"):
        self.factors, self.d, self.form, self.draws = tuple(factors), d, form, draws
        kernel = self.factors[0][1]
        self.trigonometric = isinstance(kernel, FOURIER)
        self.constant = 1.0
        if form == "pair":
            self.finish, self.columns_per_draw = "pair", 2
        elif form == "phase":
            self.finish, self.constant = "cosine", np.sqrt(2.0)
        elif isinstance(kernel, LAPLACE):
            self.finish = "exponential"
        elif isinstance(kernel, SIGNED):
            self.finish = "identity"
        else:
            self.finish, self.constant = ("step", "ramp", "square-ramp")[int(kernel.order)], np.sqrt(2.0)
        self.heavy_tailed = self.trigonometric and any(_is_heavy_tailed(kernel) for _, kernel in self.factors)
        # Factors that lift the entries alike add their frequencies; others stand side by side.
        self.groups = {}
        for index, kernel in self.factors:
            key = (type(kernel).lift, kernel.lower) if is_lifted(kernel) else None
            self.groups.setdefault(key, []).append((index, kernel))
        width = len(self.groups) * d
        self.row_values = width * (1 + (self.heavy_tailed or draws == "fastfood"))

    def draw(self, span, dtype, sparse=False):
        dtype = np.dtype(np.float64 if self.heavy_tailed else dtype)
        if self.draws == "fastfood":
            return self._draw_fastfood(span, dtype)
        matrices, offsets = [], None
        for group in self.groups.values():
            total = None
            for index, kernel in group:
                W, phase = self._draw_factor(index, kernel, span, dtype, len(self.factors) > 1)
                total = W if total is None else total + W
                offsets = phase if phase is not None else offsets
            matrices.append(total)
        W = matrices[0] if len(matrices) == 1 else np.hstack(matrices)
        if self.trigonometric:  # frequencies of single factors were checked, their sum was not
            W = in_precision(W, min((kernel for _, kernel in self.factors), key=length_scale), dtype)
        W = W.astype(dtype, copy=False)
        if self.finish == "exponential" and dtype == np.float32:
            np.clip(W, None, np.finfo(np.float32).max, out=W)  # 0 times infinity is not 0
        offsets = None if offsets is None else offsets.astype(dtype)
        if sparse:
            W = panels_of(W, segments(span, self.columns_per_draw, PANEL))
        return Frequencies(W, offsets)

    def _draw_factor(self, index, kernel, span, dtype, sums):
        r = self.columns_per_draw
        if isinstance(kernel, SIGNED):
            return span.numbers("sign", index, r, self.d, Purpose.FREQUENCIES, dtype=dtype), None
        phases = self.form == "phase" and index == self.factors[0][0]
        early = np.float64 if sums else dtype
        return draw_frequencies(kernel, index, span, r, self.d, self.draws, dtype=early, phases=phases)

    def _draw_fastfood(self, span, dtype):
        (index, kernel), r, phase = self.factors[0], self.columns_per_draw, None
        if self.form == "phase":
            phase = span.numbers("uniform", index, r, 1, Purpose.PHASES, scale=2 * np.pi)[:, 0].astype(dtype)
        return Frequencies(draw_factors(kernel, index, span, r, self.d, dtype=dtype), phase)

    def write(self, X, drawn, span, share, out):
        if self.heavy_tailed or not self.trigonometric or out.dtype == np.float64:
            self._write(X, drawn, span, share, out)
            return
        far = self._far(X)
        if not far.any():
            self._write(X, drawn, span, share, out)
            return
        # The choice depends on the row alone, so that its features do not depend on its neighbours.
        if drawn.wide is None:
            drawn.wide = self.draw(span, np.float64, sparse.issparse(X))
        for chunk in row_slices(X.shape[0], out.shape[1]):
            for which, frequencies in ((~far[chunk], drawn), (far[chunk], drawn.wide)):
                rows = chunk.start + np.flatnonzero(which)
                features = np.empty((len(rows), out.shape[1]), dtype=out.dtype)
                self._write(X[rows], frequencies, span, share, features)
                out[rows] = features

    def _far(self, X):
        """Rows whose arguments are too large for float32."""
        length = np.zeros(X.shape[0])
        for group in self.groups.values():
            rows, zero = lifted(group[0][1], X, np.float64)
            if zero != 0:  # of sparse rows, which are new
                rows.data += zero
            squares = squared_norms(rows)
            if zero != 0:
                squares += (rows.shape[1] - np.diff(rows.indptr)) * zero**2
            length += np.sqrt(squares) * sum(1 / length_scale(kernel) for _, kernel in group)
        return ~(length <= FAR)

    def _write(self, X, drawn, span, share, out):
        factors = drawn.matrix if self.draws == "fastfood" else None
        W = factors.signs if factors else drawn.matrix
        rows, zeros = self._lifted(X, W.dtype)
        offsets = drawn.offsets
        if any(zeros):
            offsets = self._moved(drawn, zeros, span)
        scale = self.constant * np.sqrt(share * self.columns_per_draw)
        r = self.columns_per_draw
        if factors:
            rows = rows.toarray() if sparse.issparse(rows) else rows
            table = segments(span, r, padded_length(self.d), padded_length(self.d))
            project_fastfood(
                rows, factors.signs, factors.permutations, factors.normals, factors.lengths, offsets,
                self.finish, scale, table, out,
            )  # fmt: skip
        elif sparse.issparse(rows):
            project_sparse(rows.data, *indices_of(rows), W, offsets, self.finish, scale, segments(span, r, PANEL), out)
        else:
            with single_threaded_blas():
                project_dense(rows, W, offsets, self.finish, scale, segments(span, r, DENSE_DRAWS // r), out)

    def _lifted(self, X, dtype):
        """The rows that frequencies are multiplied by, and what their zeros are lifted to."""
        rows, zeros = zip(*(lifted(group[0][1], X, dtype) for group in self.groups.values()))
        if len(rows) == 1:
            return rows[0], zeros
        return (sparse.hstack(rows, format="csr") if sparse.issparse(X) else np.hstack(rows)), zeros

    def blocks_at_once(self, block_columns):
        if self.draws == "fastfood":
            return 1
        most = min(DRAWS_AT_ONCE, VALUES_AT_ONCE // (len(self.groups) * self.d))
        return max(1, most * self.columns_per_draw // block_columns)

    def prepare(self, X):
        if self.draws == "fastfood":
            return X
        if self.heavy_tailed or not self.trigonometric or X.dtype == np.float64:
            dtype = np.float64 if self.heavy_tailed else X.dtype
            return [PreparedRows(*self._lifted(X, dtype), slice(None), False)]
        far = self._far(X)
        if not far.any():
            return [PreparedRows(*self._lifted(X, np.float32), slice(None), False)]
        return [
            PreparedRows(*self._lifted(X[which], dtype), which, dtype == np.float64)
            for which, dtype in ((np.flatnonzero(~far), np.float32), (np.flatnonzero(far), np.float64))
            if len(which)
        ]

    def multiply(self, rows, drawn, span, blocks, share, A, out):
        if self.draws == "fastfood":
            super().multiply(rows, drawn, span, blocks, share, A, out)
            return
        r, n_outputs = self.columns_per_draw, A.shape[2]
        scale = self.constant * np.sqrt(share * r)
        for part in rows:
            frequencies = drawn
            if part.wide:
                if drawn.wide is None:
                    drawn.wide = self.draw(span, np.float64, sparse.issparse(part.X))
                frequencies = drawn.wide
            dtype, offsets = part.X.dtype, frequencies.offsets
            if any(part.zeros):
                offsets = self._moved(frequencies, part.zeros, span)
            per_block = span.block_columns // r
            draws = slice(blocks.start * per_block, blocks.stop * per_block)
            offsets = None if offsets is None else offsets[draws]
            # A row for each output; cosines and sines apart.
            by_kind = A.reshape(len(A), r, per_block, n_outputs).astype(dtype, copy=False)
            coefficients = [np.ascontiguousarray(by_kind[:, kind].reshape(-1, n_outputs).T) for kind in range(r)]
            coefficients += [None] * (2 - r)
            whole = isinstance(part.which, slice)
            products = out if whole else np.zeros((part.X.shape[0], n_outputs))
            if sparse.issparse(part.X):
                table = segments(span, r, PANEL)
                mine = slice(*(len(table) * edge // len(list(span.blocks())) for edge in (blocks.start, blocks.stop)))
                multiply_sparse(
                    part.X.data, *indices_of(part.X), frequencies.matrix[mine],
                    table[mine, :2] - [draws.start, 0], draws.stop - draws.start, offsets, self.finish, scale,
                    *coefficients, products,
                )  # fmt: skip
            else:
                multiply_dense(part.X, frequencies.matrix[draws], offsets, self.finish, scale, *coefficients, products)
            if not whole:
                out[part.which] += products

    def _moved(self, drawn, zeros, span):
        """Offsets for sparse rows whose entries of 0 are lifted to something else."""
        W, n_draws = drawn.matrix, span.n_draws(self.columns_per_draw)
        lift = np.repeat(zeros, self.d)
        moved = np.empty(n_draws)
        # Not by BLAS, which may round differently where a span has more draws.
        if W.ndim == 3:
            for (first, count, _, _), panel in zip(segments(span, self.columns_per_draw, PANEL), W):
                moved[first : first + count] = np.sum(panel[:, :count].T * lift, axis=1)
        else:
            np.sum(W * lift, axis=1, out=moved)
        return (moved if drawn.offsets is None else moved + drawn.offsets).astype(W.dtype)


def _is_heavy_tailed(kernel):
    return SPECTRAL_DENSITIES[type(kernel)].heavy_tailed or (isinstance(kernel, Matern) and kernel.nu <= NO_VARIANCE)


def panels_of(W, table):
    """Return the frequencies of each segment, one below the other."""
    panels = np.zeros((len(table), W.shape[1], PANEL), dtype=W.dtype)
    for panel, (first, count, _, _) in zip(panels, table):
        panel[:, :count] = W[first : first + count].T
    return panels
