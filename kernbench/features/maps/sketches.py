"""Maps of inner-product kernels: TensorSketch, and random degrees.

* **TensorSketch** (Pham and Pagh, KDD 2013) of (scale <x, z> + c)^p: p count sketches of [sqrt(scale) x,
  sqrt(c)], convolved by fast Fourier transforms. The width of a sketch is a power of two.
* **Random degrees** (Kar and Karnick, AISTATS 2012) of sum_n a_n <x, z>^n: draw N, then N vectors w of random
  signs; sqrt(a_N / P[N]) prod_i <w_i, x>. Here P[N] = a_N / sum a, not their geometric distribution: degrees of
  coefficient 0 are never drawn, and on the unit sphere all features have the same magnitude.
"""

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy import fft, sparse

from kernbench.features.draws.spans import Purpose, Span, segments
from kernbench.features.maps._sketches import count_sketch_dense, count_sketch_sparse, multiply_runs
from kernbench.features.maps.base import FeatureMap, panels_of
from kernbench.features.maps.projections._projection import DENSE_DRAWS, PANEL, project_dense, project_sparse
from kernbench.features.maps.rows import indices_of, row_slices
from kernbench.kernels.functions import Polynomial
from kernbench.kernels.threads import single_threaded_blas


@dataclass(frozen=True)
class Sketch:
    """One TensorSketch: its columns; bucket and sign of each coordinate (constant last) in each factor."""

    columns: slice
    buckets: np.ndarray
    signs: np.ndarray


class TensorSketchMap(FeatureMap):
    """phi of Polynomial(degree, c, scale).

    A block whose number of columns is a power of two is one sketch; any other has one sketch for each power of two in
    that number (200 = 128 + 64 + 8).
    """

    def __init__(self, factor, kernel, d):
        self.factor, self.kernel, self.d = factor, kernel, d
        self.degree = int(kernel.degree)

    def draw(self, span, dtype, sparse=False):
        return [
            self._draw_sketch(span, block, k, columns, dtype)
            for block, first, n_columns in span.blocks()
            for k, columns in enumerate(_powers_of_two(first, n_columns))
        ]

    def _draw_sketch(self, span, block, k, columns, dtype):
        n_quads = -(-(self.d + 1) // 4)
        words = np.vstack(
            [
                span.numbers_of("word", self.factor, [k], [block], self.d + 1, Purpose.DEGREES, first_quad=j * n_quads)
                for j in range(self.degree)
            ]
        )
        width = columns.stop - columns.start
        buckets = (words & np.uint32(width - 1)).astype(np.int32)
        return Sketch(columns, buckets, np.where(words < 2**31, 1, -1).astype(dtype))

    def write(self, X, drawn, span, share, out):
        root, constant = np.sqrt(self.kernel.scale), np.sqrt(self.kernel.c)
        for sketch in drawn:
            width = sketch.columns.stop - sketch.columns.start
            features = out[:, sketch.columns]
            for rows in row_slices(X.shape[0], width * self.degree):
                counts = self._counts(X[rows], sketch, out.dtype, width) * out.dtype.type(root)
                for j in range(self.degree):
                    counts[:, j, sketch.buckets[j, -1]] += sketch.signs[j, -1] * constant
                product = np.prod(fft.rfft(counts, axis=2), axis=1)
                features[rows] = fft.irfft(product, n=width, axis=1)
            features *= np.sqrt(share * width)

    def _counts(self, X, sketch, dtype, width):
        buckets = np.ascontiguousarray(sketch.buckets[:, :-1])
        signs = np.ascontiguousarray(sketch.signs[:, :-1])
        if sparse.issparse(X):
            values = X.data.astype(dtype, copy=False)
            return count_sketch_sparse(values, *indices_of(X), buckets, signs, width)
        return count_sketch_dense(np.ascontiguousarray(X, dtype=dtype), buckets, signs, width)


def _powers_of_two(first, n_columns):
    """Yield the columns of each power of two in `n_columns`, the largest first."""
    for bit in reversed(range(n_columns.bit_length())):
        if n_columns >> bit & 1:
            yield slice(first, first + (1 << bit))
            first += 1 << bit


@np.errstate(over="ignore", invalid="ignore")  # coefficients that overflow are refused
def power_series(kernel):
    """Return a_0, a_1, ...: the kernel as a power series of the inner product.

    Raises
    ------
    ValueError
        If the coefficients or their sum overflow, or all coefficients underflow.
    """
    if isinstance(kernel, Polynomial):
        remedy = "scale the features, lower the degree or, outside of products, take form='tensor-sketch'"
        try:
            series = np.array(_binomial_series(kernel), dtype=np.float64)
        except OverflowError:  # which Python's numbers raise
            series = np.array([np.inf])
    else:
        remedy = "scale the coefficients"
        series = np.asarray(kernel.coefficients, dtype=np.float64)
    if not 0 < series.sum() < np.inf:
        raise ValueError(f"{type(kernel).__name__}: the coefficients of its power series do not fit float64: {remedy}")
    return series


def _binomial_series(kernel):
    p = int(kernel.degree)
    return [comb(p, n) * kernel.c ** (p - n) * kernel.scale**n for n in range(p + 1)]


@dataclass(frozen=True)
class Degrees:
    """Runs of signs, one run a draw.

    Attributes
    ----------
    matrix : ndarray of shape (n_signs, d), or panels of it for sparse rows
    starts : ndarray of shape (n_draws + 1,), int64
        The first row of signs of each run.
    segments : ndarray
        As `project_dense` or `project_sparse` takes them.
    """

    matrix: np.ndarray
    starts: np.ndarray
    segments: np.ndarray


class RandomDegreeMap(FeatureMap):
    """phi of Polynomial or DotProduct by random degrees."""

    def __init__(self, factor, kernel, d):
        self.factor, self.kernel, self.d = factor, kernel, d
        coefficients = power_series(kernel)
        self.total = coefficients.sum()
        self.upper = np.cumsum(coefficients) / self.total  # the distribution function of the degrees
        self.upper[np.flatnonzero(coefficients)[-1] :] = 1.0  # so that rounding does not draw a larger degree
        self.row_values = 0

    def draw(self, span, dtype, sparse=False):
        u = span.numbers("uniform", self.factor, 1, 1, Purpose.DEGREES)[:, 0]
        degrees = np.searchsorted(self.upper, u, side="right")
        starts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
        signs = np.empty((starts[-1], self.d), dtype=dtype)
        n_quads = -(-self.d // 4)
        index = np.arange(len(degrees))
        for j in range(degrees.max(initial=0)):
            drawn = index[degrees > j]
            signs[starts[drawn] + j] = span.numbers_of(
                "sign", self.factor, drawn % span.block_columns, span.first_block + drawn // span.block_columns,
                self.d, Purpose.FREQUENCIES, first_quad=j * n_quads, dtype=dtype,
            )  # fmt: skip
        table = _segments_of_blocks(span, starts, PANEL if sparse else DENSE_DRAWS)
        self.row_values = max(self.row_values, len(signs))
        return Degrees(panels_of(signs, table) if sparse else signs, starts, table)

    def write(self, X, drawn, span, share, out):
        T = np.empty((X.shape[0], drawn.starts[-1]), dtype=out.dtype)
        if sparse.issparse(X):
            X = X.astype(out.dtype, copy=False)
            project_sparse(X.data, *indices_of(X), drawn.matrix, None, "identity", 1.0, drawn.segments, T)
        else:
            X = np.ascontiguousarray(X, dtype=out.dtype)
            with single_threaded_blas():
                project_dense(X, drawn.matrix, None, "identity", 1.0, drawn.segments, T)
        multiply_runs(T, drawn.starts, np.sqrt(share * self.total), out)


def _segments_of_blocks(span, starts, width):
    """Return the ranges of rows of signs that are multiplied together, each within one block of features.

    Their bounds depend on the block alone, and so do the shapes that BLAS sees: another shape may give other bits.
    """
    tables = [np.empty((0, 4), dtype=np.intp)]
    for _, first, n_columns in span.blocks():
        first_sign = int(starts[first])
        n_signs = int(starts[first + n_columns]) - first_sign
        if n_signs:
            tables.append(segments(Span(0, 0, n_signs, n_signs), 1, width) + (first_sign, 0, first_sign, 0))
    return np.concatenate(tables)
