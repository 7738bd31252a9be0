"""Maps of products of kernels: products of features with independent draws."""

from dataclasses import replace

import numpy as np

from kernbench.features.maps.base import FeatureMap, ProjectionMap
from kernbench.features.maps.forms import ADDITIVE, DEGREES, FOURIER, LAPLACE
from kernbench.features.maps.rows import row_slices


class ProductMap(FeatureMap):
    """phi = phi_1 * ... * phi_n, the first with one or two columns per draw, the others with one.

    Cosines and sines of one map, times a number of another, are a pair again.
    """

    def __init__(self, maps):
        self.first, self.others = maps[0], maps[1:]
        self.columns_per_draw = self.first.columns_per_draw

    @property
    def row_values(self):
        return max(other.row_values for other in (self.first, *self.others))

    def draw(self, span, dtype, sparse=False):
        return [
            self.first.draw(span, dtype, sparse),
            *(other.draw(self._narrow(span), dtype, sparse) for other in self.others),
        ]

    def _narrow(self, span):
        """Return the span of the same draws for a map with one column per draw."""
        r = self.columns_per_draw
        return replace(span, n_columns=span.n_columns // r, block_columns=span.block_columns // r)

    def write(self, X, drawn, span, share, out):
        self.first.write(X, drawn[0], span, share, out)
        narrow = self._narrow(span)
        for rows in row_slices(X.shape[0], narrow.n_columns):
            factor = np.empty((rows.stop - rows.start, narrow.n_columns), dtype=out.dtype)
            for other, numbers in zip(self.others, drawn[1:]):
                other.write(X[rows], numbers, narrow, 1.0, factor)
                self._multiply(out[rows], factor, span)

    def _multiply(self, out, factor, span):
        """Multiply cosines and sines by the numbers of their draws."""
        r = self.columns_per_draw
        for _, first, n_columns in span.blocks():
            half = n_columns // r
            draws = slice(first // r, first // r + half)
            for start in range(first, first + n_columns, half):
                out[:, start : start + half] *= factor[:, draws]


def product_map(factors, d, form, draws, make):
    """Return the map of a product of kernels.

    Parameters
    ----------
    factors : sequence of (int, Kernel)
        Indices and kernels.
    d : int
    form : {"pair", "phase", "random"}
    draws : str
    make : callable
        ``make(index, kernel, form)`` returns the map of a single kernel.
    """
    # Arguments of cosines add up, and so do those of exponentials: one map serves all factors of a kind.
    maps = []
    for family, its_form in ((FOURIER, form), (LAPLACE, "random")):
        alike = [(index, kernel) for index, kernel in factors if isinstance(kernel, family)]
        if alike:
            maps.append(ProjectionMap(alike, d, its_form, draws))
    for index, kernel in factors:
        if not isinstance(kernel, (*FOURIER, *LAPLACE)):
            scalar = "scalar" if isinstance(kernel, ADDITIVE) else "random"
            maps.append(make(index, kernel, "random-degree" if isinstance(kernel, DEGREES) else scalar))
    return maps[0] if len(maps) == 1 else ProductMap(maps)
