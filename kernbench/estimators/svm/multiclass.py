"""Many classes as two-class problems: one for each pair, or one for each class against the rest.

**One against one** is laid out as scikit-learn and LIBSVM do. With k classes there are k(k-1)/2 pairs, in the
order (0, 1), (0, 2), …, (1, 2), …. A support vector of class i takes part in k-1 of them, so its coefficients
fill a column of ``dual_coef_``, of shape (k-1, n_SV):

    row j-1  for the pair (i, j) with i < j,        row i'  for the pair (i', i) with i' < i.

Each pair is solved as a two-class problem of its own, the later class positive. For two classes that is the
model; with more, scikit-learn's signs have the *earlier* class positive, so coefficients and intercepts
change sign.

**One against the rest** has k problems over all examples. Row j of ``dual_coef_``, of shape (k, n_SV), and
entry j of ``intercept_`` are those of class j, which is positive. Two classes make one problem, either way.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from kernbench.estimators.svm._votes import add_votes

ONE_VS_ONE, ONE_VS_REST = "ovo", "ovr"
SCHEMES = (ONE_VS_ONE, ONE_VS_REST)


@dataclass(frozen=True)
class Pair:
    """The examples of two classes, or of one class and the rest.

    Attributes
    ----------
    negative, positive : int
        Indices of the two classes in ``classes_``; ``negative < positive``. A `negative` of None is the rest.
    rows : ndarray of shape (n_rows,), or None
        Indices of its examples in the training set; None means all.
    y : ndarray of shape (n_rows,), float64
        -1 and +1.
    """

    negative: int
    positive: int
    rows: np.ndarray | None
    y: np.ndarray

    def of_rows(self, values):
        """The part of `values` (one per training example, or None) that belongs to this pair."""
        return values if values is None or self.rows is None else values[self.rows]


def pairs_of(codes, n_classes, weights, scheme=ONE_VS_ONE):
    """Return the two-class problems, each a `Pair`; examples of weight 0 are in none.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Index of the class of each example.
    n_classes : int
    weights : ndarray of shape (n_samples,), or None
    scheme : {"ovo", "ovr"}
        Two classes are one pair, whatever the scheme.
    """
    used = np.ones(len(codes), dtype=bool) if weights is None else weights > 0
    if scheme == ONE_VS_REST and n_classes > 2:
        rows = None if used.all() else np.flatnonzero(used)
        own = codes if rows is None else codes[rows]
        return [Pair(None, k, rows, np.where(own == k, 1.0, -1.0)) for k in range(n_classes)]
    pairs = []
    for negative, positive in combinations(range(n_classes), 2):
        chosen = used & ((codes == negative) | (codes == positive))
        rows = None if chosen.all() else np.flatnonzero(chosen)
        own = codes if rows is None else codes[rows]
        pairs.append(Pair(negative, positive, rows, np.where(own == positive, 1.0, -1.0)))
    return pairs


def assemble(pairs, solutions, codes, n_classes):
    """Combine the solutions of the pairs.

    Parameters
    ----------
    pairs : list of Pair
    solutions : list of Solution
    codes : ndarray of shape (n_samples,)
    n_classes : int

    Returns
    -------
    support : ndarray of shape (n_SV,), intp
        Indices of the examples with a coefficient in any pair, grouped by class.
    dual_coef : ndarray of shape (n_classes - 1, n_SV), or (n_classes, n_SV) for more than two against the
    rest
    intercept : ndarray of shape (n_pairs,)
    """
    against_rest = pairs[0].negative is None
    sign = 1.0 if n_classes == 2 or against_rest else -1.0
    entries = []  # of each pair: training indices and coefficients that are not 0
    is_support = np.zeros(len(codes), dtype=bool)
    for pair, solution in zip(pairs, solutions, strict=True):
        own = np.flatnonzero(solution.coef)
        rows = own if pair.rows is None else pair.rows[own]
        entries.append((rows, sign * solution.coef[own]))
        is_support[rows] = True

    support = np.flatnonzero(is_support)
    support = support[np.argsort(codes[support], kind="stable")]
    column = np.empty(len(codes), dtype=np.intp)
    column[support] = np.arange(len(support))
    dual_coef = np.zeros((n_classes if against_rest else n_classes - 1, len(support)))
    for pair, (rows, coef) in zip(pairs, entries, strict=True):
        if against_rest:
            row = pair.positive
        else:
            row = np.where(codes[rows] == pair.negative, pair.positive - 1, pair.negative)
        dual_coef[row, column[rows]] = coef
    intercept = np.array([sign * solution.intercept for solution in solutions])
    return support, dual_coef, intercept


def class_blocks(n_support):
    """Return the slice of each class among the support vectors."""
    ends = np.cumsum(n_support)
    return [slice(end - n, end) for end, n in zip(ends, n_support, strict=True)]


def pair_values(products, intercept):
    """Return the decision value of every pair.

    Parameters
    ----------
    products : ndarray of shape (n_classes, n_samples, n_classes - 1)
        For each class, its support vectors' kernel values times their columns of ``dual_coef_``, transposed.
    intercept : ndarray of shape (n_pairs,)

    Returns
    -------
    ndarray of shape (n_samples, n_pairs)
        With more than two classes, a positive value is a vote for the earlier class.
    """
    n_classes = len(products)
    values = np.empty((products.shape[1], len(intercept)))
    for i, later in enumerate(_pairs_by_class(n_classes)):
        values[:, later] = products[i, :, i:] + products[i + 1 :, :, i].T
    return np.add(values, intercept, out=values)


def products_of(values, n_classes):
    """Return products of which `pair_values` makes `values`, those of the pairs without intercepts."""
    products = np.zeros((n_classes, len(values), n_classes - 1))
    for i, later in enumerate(_pairs_by_class(n_classes)):
        products[i, :, i:] = values[:, later]
    return products


def class_scores(products, intercept, *, break_ties=True):
    """Return one score for each class from the values of its pairs, which are not stored.

    The score is the number of pairs a class wins plus, with less than half a vote, the sum of its decision values,
    transformed by x / (3 (|x| + 1)), which breaks ties: scikit-learn's ``decision_function_shape="ovr"``.

    Parameters
    ----------
    products, intercept
        As for `pair_values`.
    break_ties : bool, default=True
        False returns the number of pairs alone; a pair whose value is exactly 0 is then won by the later class, as in
        ``SVC.predict``, otherwise by the earlier one, as in ``SVC.decision_function``.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    votes, sums = np.zeros((2, products.shape[1], len(products)))
    add_votes(products, intercept, votes, sums, not break_ties)
    return votes + sums / (3 * (np.abs(sums) + 1)) if break_ties else votes


def _pairs_by_class(n_classes):
    """Yield for each class but the last the slice of its pairs with later classes."""
    start = 0
    for n_later in range(n_classes - 1, 0, -1):
        yield slice(start, start + n_later)
        start += n_later
