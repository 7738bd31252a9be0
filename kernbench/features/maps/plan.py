"""From a kernel and a number of columns to maps: the columns of each term, and how blocks are written."""

from dataclasses import dataclass
from functools import lru_cache

from kernbench.features.draws.spans import Span
from kernbench.features.maps.additive import AdditiveMap
from kernbench.features.maps.base import ExactMap, FeatureMap, ProjectionMap
from kernbench.features.maps.forms import (
    ADDITIVE,
    check_draws,
    check_whole_draws,
    columns_per_draw,
    forms_of,
    resolve_form,
    terms_of,
)
from kernbench.features.maps.products import product_map
from kernbench.features.maps.sketches import RandomDegreeMap, TensorSketchMap


@dataclass(frozen=True)
class Term:
    """One term of a sum of kernels.

    Attributes
    ----------
    map : FeatureMap
    form : str
    weight : float
        The term's factor in the sum.
    first_column, n_columns : int
    """

    map: FeatureMap
    form: str
    weight: float
    first_column: int
    n_columns: int

    def spans(self, seed, block_size, blocks_at_once=None):
        """Yield spans of consecutive blocks, with the columns of the output they fill."""
        block_columns = min(self.map.block_columns(block_size), self.n_columns)
        step = self.n_columns if blocks_at_once is None else blocks_at_once * block_columns
        for start in range(0, self.n_columns, step):
            n_columns = min(step, self.n_columns - start)
            columns = slice(self.first_column + start, self.first_column + start + n_columns)
            yield Span(seed, start // block_columns, n_columns, block_columns), columns

    def write(self, X, drawn, span, out):
        """Write the columns of a span; over all columns of the term they are normalised."""
        self.map.write(X, drawn, span, self.weight / self.n_columns, out)

    def multiply(self, rows, drawn, span, blocks, A, out):
        """Add the features of some blocks of a span, times A, to out."""
        self.map.multiply(rows, drawn, span, blocks, self.weight / self.n_columns, A, out)


@lru_cache(maxsize=128)
def plan(kernel, n_columns, n_features_in, form="auto", draws="iid", may_be_exact=True):
    """Return the terms that random features of a kernel are made of.

    A sum is multiplied out, and its terms share the columns evenly; a term with an exact map takes the columns it
    needs, if they are no more than its share.

    Parameters
    ----------
    kernel : Kernel
    n_columns : int
        Columns wanted; exact maps may make fewer.
    n_features_in : int
    form, draws : str
    may_be_exact : bool, default=True
        False for blocks: their number is unlimited, so their features are drawn.

    Returns
    -------
    tuple of Term

    Raises
    ------
    ValueError
        For a kernel without random features, for a form or draws that it does not have, and for a power series whose
        coefficients do not fit float64.
    """
    if form == "exact" and not may_be_exact:
        raise ValueError("form='exact' has finitely many features, so it cannot be drawn in blocks; take form='random'")
    terms = terms_of(kernel)
    all_factors = [factors for _, factors in terms]
    shares = _shares(all_factors, n_columns, n_features_in, form, may_be_exact)
    forms = [
        resolve_form(factors, form, share, n_features_in, may_be_exact) for factors, share in zip(all_factors, shares)
    ]
    check_whole_draws(form, n_columns, all_factors, n_features_in)
    made, index, column = [], 0, 0
    for (weight, factors), its_form, share in zip(terms, forms, shares):
        check_draws(factors, its_form, draws)
        width = n_features_in if its_form == "exact" else share
        numbered = tuple(enumerate(factors, start=index))
        feature_map = _map_of(numbered, n_features_in, its_form, draws)
        made.append(Term(feature_map, its_form, weight, column, width))
        index, column = index + len(factors), column + width
    return tuple(made)


def n_columns_of(terms):
    """Return the total number of columns of the terms."""
    return terms[-1].first_column + terms[-1].n_columns


def _shares(terms, n_columns, d, form, may_be_exact):
    """Return the columns of each term."""
    if len(terms) == 1:
        return [n_columns]
    if n_columns < len(terms):
        raise ValueError(f"a sum of {len(terms)} kernels needs at least as many features, got {n_columns}")
    even = n_columns // len(terms)
    wanted = form == "exact" or (form == "auto" and may_be_exact and d <= even)
    exact = [wanted and "exact" in forms_of(factors) for factors in terms]
    drawn = exact.count(False)
    if not drawn:
        return [d] * len(terms)
    rest = n_columns - d * exact.count(True)
    # Whole draws for all terms but the last, which takes the remaining columns.
    step = 2 if form == "auto" else columns_per_draw(form, d)
    each = max(step, rest // drawn // step * step) if rest >= step * drawn else rest // drawn
    shares = [d if is_exact else each for is_exact in exact]
    last = max(i for i, is_exact in enumerate(exact) if not is_exact)
    shares[last] += rest - each * drawn
    return shares


def _map_of(numbered, d, form, draws):
    def make(index, kernel, form):
        if form == "exact":
            return ExactMap(kernel)
        if form == "tensor-sketch":
            return TensorSketchMap(index, kernel, d)
        if form == "random-degree":
            return RandomDegreeMap(index, kernel, d)
        if isinstance(kernel, ADDITIVE):
            return AdditiveMap(index, kernel, d, form, draws)
        return ProjectionMap(((index, kernel),), d, form, draws)

    if len(numbered) > 1:
        return product_map(numbered, d, form, draws, make)
    ((index, kernel),) = numbered
    return make(index, kernel, form)
