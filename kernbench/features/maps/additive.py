"""Maps of additive homogeneous kernels on histograms (Vedaldi and Zisserman, PAMI 2012).

k(x, z) = sum_j sqrt(x_j z_j) E[cos(w (log x_j - log z_j))]. VECTOR features keep a pair for every column of
the histogram, with one w for all: 2 d columns a draw and a small variance. SCALAR features sum over the
columns, sqrt(2) sum_j sqrt(x_j) cos(w_j log x_j + b_j), each with its own frequency and phase, which make the cross
terms vanish in expectation. A column where x_j = 0 adds nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kernbench.features.draws.frequencies import draw_frequencies
from kernbench.features.draws.spans import Purpose, segments
from kernbench.features.draws.spectral_densities import SPECTRAL_DENSITIES
from kernbench.features.maps._additive import SCALAR_DRAWS, additive_features
from kernbench.features.maps.base import FeatureMap
from kernbench.features.maps.rows import indices_of


@dataclass(frozen=True)
class AdditiveFrequencies:
    """Frequencies (1 or d, n_draws), and phases (d, n_draws) or None."""

    w: np.ndarray
    b: np.ndarray | None


class AdditiveMap(FeatureMap):
    """phi of ChiSquared, Intersection or JensenShannon.

    Parameters
    ----------
    factor : int
    kernel : Kernel
    d : int
    form : {"vector", "scalar"}
    draws : {"iid", "qmc"}
    """

    def __init__(self, factor, kernel, d, form, draws="iid"):
        self.factor, self.kernel, self.d, self.form, self.draws = factor, kernel, d, form, draws
        self.columns_per_draw = 2 * d if form == "vector" else 1
        self.row_values = 5 * d
        self.heavy_tailed = SPECTRAL_DENSITIES[type(kernel)].heavy_tailed

    def draw(self, span, dtype, sparse=False):
        dtype = np.dtype(np.float64 if self.heavy_tailed else dtype)
        r, scalar = self.columns_per_draw, self.form == "scalar"
        width = self.d if scalar else 1
        if scalar and self.draws == "qmc":
            # One point for frequencies and phases together.
            points = span.points(self.factor, r, 2 * width)
            w = (
                SPECTRAL_DENSITIES[type(self.kernel)].inverse(points[:, :width])
                * SPECTRAL_DENSITIES[type(self.kernel)].factor
            )
            b = 2 * np.pi * points[:, width:]
        else:
            w, _ = draw_frequencies(self.kernel, self.factor, span, r, width, self.draws, dtype=np.float64)
            b = None
            if scalar:
                b = span.numbers("uniform", self.factor, r, width, Purpose.PHASES, scale=2 * np.pi)
        b = None if b is None else np.ascontiguousarray(b.T, dtype=dtype)
        return AdditiveFrequencies(np.ascontiguousarray(w.T, dtype=dtype), b)

    def write(self, X, drawn, span, share, out):
        values, columns, starts = positive_entries(X)
        dtype = drawn.w.dtype
        scalar, r = self.form == "scalar", self.columns_per_draw
        additive_features(
            np.sqrt(values).astype(dtype, copy=False), np.log(values).astype(dtype, copy=False), columns,
            starts, drawn.w, drawn.b, np.sqrt(share * (2 if scalar else r)),
            segments(span, r, SCALAR_DRAWS if scalar else max(1, SCALAR_DRAWS // self.d)), out, self.d,
        )  # fmt: skip


def positive_entries(X):
    """Return the positive entries of histograms: values (float64), columns (int32), row starts (int64)."""
    n, d = X.shape
    if sparse.issparse(X):
        if np.any(X.data == 0):
            X = X.copy()
            X.eliminate_zeros()
        return X.data.astype(np.float64), *indices_of(X)
    positive = X > 0
    if positive.all():  # as most dense histograms are
        columns = np.tile(np.arange(d, dtype=np.int32), n)
        return X.ravel().astype(np.float64), columns, np.arange(0, n * d + 1, d, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(positive, axis=1))])
    return X[positive].astype(np.float64), np.nonzero(positive)[1].astype(np.int32), starts.astype(np.int64)
