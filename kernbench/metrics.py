"""Metrics of rankings: ROC curve, areas under it with confidence intervals, thresholds, the sum of ranked range.

Higher scores stand for the positive class, ties count one half, and the larger of the two labels is the positive one
unless `pos_label` is given.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernbench._random import generator_of
from kernbench._typing import RandomState
from kernbench.pairs import thresholds
from kernbench.pairs._roc import roc_area
from kernbench.pairs.checks import checked_scores, checked_weights
from kernbench.pairs.curve import area_between, corners, roc_vertices
from kernbench.pairs.intervals import AUCDifference, AUCInterval, bootstrap_interval, delong_difference, delong_interval
from kernbench.pairs.labels import scored_problem
from kernbench.pairs.window import checked_fpr_range, checked_tpr_range
from kernbench.validation.numbers import check_name, check_number, is_integer, is_number

__all__ = [
    "AUCDifference",
    "AUCInterval",
    "auc_difference",
    "auc_interval",
    "partial_auc",
    "ranked_range",
    "roc_auc",
    "roc_curve",
    "threshold_for",
]


def roc_auc(y: ArrayLike, score: ArrayLike, *, sample_weight: ArrayLike | None = None, pos_label: Any = None) -> float:
    """Area under the ROC curve: the probability that a positive scores higher than a negative; ties count one half.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; the weight of a pair is the product of the weights of its samples.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        For one class only (or only one with positive weights), more than two classes, NaN or infinity, and arrays of
        different lengths.

    See Also
    --------
    partial_auc : the area over a range of false positive rates.

    Examples
    --------
    >>> from kernbench.metrics import roc_auc
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return roc_area(*scored_problem(y, score, sample_weight, pos_label))


def partial_auc(
    y: ArrayLike,
    score: ArrayLike,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    tpr_range: tuple[float, float] = (0.0, 1.0),
    *,
    ties: str = "half",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Partial AUC: the area under the ROC curve over a range of false positive rates, divided by the range's width.

    It is the mean height of the curve over the range. With `tpr_range` it is the share of the rectangle of both ranges
    that lies below the curve: the probability that a positive ranked within one range scores higher than a negative
    ranked within the other.

    The curve is piecewise linear, with sloping pieces for ties, and the ends of the range may fall anywhere on it. A
    perfect ranking has the value 1, a random one (a + b) / 2. scikit-learn's ``roc_auc_score(max_fpr=b)`` is a
    different, standardised value (McClish 1989): with p = ``partial_auc`` over (0, b) it is
    ``0.5 * (1 + (p - b/2) / (1 - b/2))``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    fpr_range : (float, float), default=(0.0, 1.0)
        (a, b) with 0 <= a < b <= 1.
    tpr_range : (float, float), default=(0.0, 1.0)
        (c, d) with 0 <= c < d <= 1.
    ties : {"half", "miss"}, default="half"
        Whether a positive and a negative with the same score count one half or not at all.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; the weight of a pair is the product of the weights of its samples.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As for :func:`roc_auc`, and for an empty range.

    See Also
    --------
    auc_interval : with a confidence interval.

    Examples
    --------
    >>> from kernbench.metrics import partial_auc
    >>> partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr_range=(0, 0.5))
    0.5
    """
    fpr_range, tpr_range = checked_fpr_range(fpr_range), checked_tpr_range(tpr_range)
    check_name("ties", ties, TIES)
    return _area(*scored_problem(y, score, sample_weight, pos_label), fpr_range, tpr_range, ties)


def auc_interval(
    y: ArrayLike,
    score: ArrayLike,
    fpr_range: tuple[float, float] = (0.0, 1.0),
    tpr_range: tuple[float, float] = (0.0, 1.0),
    *,
    ties: str = "half",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: RandomState = None,
    pos_label: Any = None,
) -> AUCInterval:
    """Confidence interval of an area under the ROC curve.

    For the whole area it is DeLong's interval on the scale of log(auc / (1 - auc)), so that it stays within [0, 1]. If
    all pairs are ranked correctly, or all wrongly, the estimated variance is 0; the bound is then the exact binomial
    one, for as many trials as the smaller class has samples. For a partial area the interval is given by percentiles of
    a bootstrap that resamples each class separately. If all scores are equal, both ends of the interval are the area.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings; at least two samples of each.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    fpr_range, tpr_range : (float, float), default=(0.0, 1.0)
        See :func:`partial_auc`.
    ties : {"half", "miss"}, default="half"
        See :func:`partial_auc`; with "miss" the interval is that of the bootstrap.
    confidence : float, default=0.95
        Between 0 and 1.
    n_resamples : int, default=1000
        Number of bootstrap samples, at least 2.
    random_state : None, int, RandomState or Generator, default=None
        Source of the bootstrap samples. None is NumPy's global state (``np.random.seed``).
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    AUCInterval
        With ``auc``, ``low``, ``high``, ``standard_error`` and ``confidence``.

    Raises
    ------
    ValueError
        As for :func:`partial_auc`, and for a class with one sample.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988); Sun and Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> from kernbench.metrics import auc_interval
    >>> found = auc_interval([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> round(found.auc, 3), round(found.low, 3), round(found.high, 3)
    (0.889, 0.261, 0.995)
    """
    fpr_range, tpr_range = checked_fpr_range(fpr_range), checked_tpr_range(tpr_range)
    check_name("ties", ties, TIES)
    check_number("n_resamples", n_resamples, at_least=2, whole=True)
    score, positive = _two_of_each_class(y, score, pos_label, confidence)
    if (fpr_range, tpr_range, ties) == ((0.0, 1.0), (0.0, 1.0), "half"):
        return delong_interval(score, positive, confidence)
    score = checked_scores(score, len(positive), name="score")  # before they are sorted, to name the index as given
    order = np.argsort(score, kind="stable")  # once: sorting what is sorted is cheap
    score, positive = score[order], positive[order]

    def area_of(weights):
        return _area(score, positive, weights, fpr_range, tpr_range, ties)

    return bootstrap_interval(area_of, positive, confidence, n_resamples, generator_of(random_state))


def auc_difference(
    y: ArrayLike, score: ArrayLike, other: ArrayLike, *, confidence: float = 0.95, pos_label: Any = None
) -> AUCDifference:
    """Difference of the areas under the ROC curves of two scores of the same samples, with interval and p-value.

    This is DeLong's paired test: since the samples are the same, errors that both scores have in common cancel. If the
    estimated variance is 0, since the two scores differ in the same way on all pairs, the p-value is that of the sign
    test and the bound the exact binomial one, for as many trials as the smaller class has samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings; at least two samples of each.
    score, other : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    confidence : float, default=0.95
        Between 0 and 1.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    AUCDifference
        With ``difference`` (the area of `score` minus that of `other`), ``low``, ``high``, ``standard_error``,
        ``p_value`` and ``confidence``.

    Raises
    ------
    ValueError
        As for :func:`roc_auc`, and for a class with one sample.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988); Sun and Xu, IEEE Signal Processing Letters 21 (2014).

    Examples
    --------
    >>> from kernbench.metrics import auc_difference
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> found = auc_difference(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 2, 6, 4, 8])
    >>> round(found.difference, 4), round(found.p_value, 3)
    (0.3125, 0.065)
    """
    score, positive = _two_of_each_class(y, score, pos_label, confidence)
    other = checked_scores(scored_problem(y, other, None, pos_label, name="other")[0], len(positive), name="other")
    return delong_difference(score, other, positive, confidence)


def roc_curve(
    y: ArrayLike,
    score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
    drop_intermediate: bool = True,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices of the ROC curve, from (0, 0) to (1, 1).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; samples of weight 0 are ignored.
    pos_label : label, optional
        The positive class; by default the larger label.
    drop_intermediate : bool, default=True
        Leave out vertices between two pieces with the same slope, which a plot does not need, except that of the
        highest score; with False there is one vertex for each distinct score.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_vertices,)
        False and true positive rate of the rule "positive if score >= threshold".
    thresholds : ndarray of shape (n_vertices,)
        Descending; the first is infinity.

    Raises
    ------
    ValueError
        As for :func:`roc_auc`.

    Examples
    --------
    >>> from kernbench.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    score, positive, weights = scored_problem(y, score, sample_weight, pos_label)
    score = checked_scores(score, len(positive), name="score")
    if weights is not None:
        counted = weights > 0
        score, positive, weights = score[counted], positive[counted], weights[counted]
    vertices = roc_vertices(score, positive, weights)
    x, y, at = (np.append(first, rest) for first, rest in zip((0, 0, np.inf), vertices))
    if drop_intermediate:
        kept = corners(x, y)
        kept[1] = True  # the highest score, as in scikit-learn
        x, y, at = x[kept], y[kept], at[kept]
    return x / x[-1], y / y[-1], at


def threshold_for(
    y: ArrayLike,
    score: ArrayLike,
    *,
    sensitivity: float | None = None,
    specificity: float | None = None,
    precision: float | None = None,
    cost: tuple[float, float] | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Threshold for a required rate, or of least cost of errors, for the rule "positive if score >= threshold".

    * For a sensitivity s: the largest threshold whose true positive rate is at least s, which is the score of a
      positive; infinity for s = 0.
    * For a specificity q: half way between the smallest score of a negative that leaves a true negative rate of at
      least q and the next larger score of either class (just above it if there is none); minus infinity for q = 0.
    * For a precision p: of the thresholds with a share of at least p of positives among the samples predicted positive,
      that of largest sensitivity, half way to the next lower score; minus infinity for p = 0.
    * For costs: the largest threshold of least total cost, half way to the next lower score (just above all scores if
      it is cheapest to predict no positives).

    With ties a rate can be larger than required, but never smaller.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sensitivity, specificity, precision : float
        The required rate, in [0, 1]. Exactly one of these and `cost` has to be given. Sensitivity is also called recall
        or true positive rate, specificity true negative rate.
    cost : (float, float)
        Cost of a false positive and of a false negative, at least 0 and not both 0, in any unit.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; samples of weight 0 are ignored. Precision and cost depend on the shares of the classes: if those in
        `y` differ from the real ones, correct this by weights.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As for :func:`roc_auc`, unless exactly one requirement is given, and for a precision that no threshold has.

    See Also
    --------
    sklearn.model_selection.FixedThresholdClassifier : a classifier with a given threshold.

    Examples
    --------
    >>> from kernbench.metrics import threshold_for
    >>> y, score = [1, 1, 1, 0, 0, 0, 0], [3, 2, 1, 2.5, 1, 0, -1]
    >>> threshold_for(y, score, sensitivity=0.6)
    2.0
    >>> threshold_for(y, score, specificity=0.75)
    1.5
    >>> threshold_for(y, score, precision=0.6)
    0.5
    >>> threshold_for(y, score, cost=(5, 1))
    2.75
    """
    wishes = {"sensitivity": sensitivity, "specificity": specificity, "precision": precision, "cost": cost}
    given = [name for name, wish in wishes.items() if wish is not None]
    if len(given) != 1:
        raise ValueError(f"pass exactly one of sensitivity=, specificity=, precision= and cost=, got {given or 'none'}")
    (name,) = given
    if name == "cost":
        _check_cost(cost)
    else:
        check_number(name, wishes[name], at_least=0, at_most=1)
    score, positive, weights = scored_problem(y, score, sample_weight, pos_label)
    score = checked_scores(score, len(positive), name="score")
    if weights is not None and name in ("precision", "cost"):  # these depend on the shares of the classes
        weights = checked_weights(sample_weight, len(positive))
        weights = weights / weights.max()
    return THRESHOLDS[name](score, positive, wishes[name], weights)


def ranked_range(losses: ArrayLike, m: int, n: int) -> float:
    """Sum of ranked range: the sum of the losses of rank m + 1 to n, the largest loss having rank 1.

    Divided by n - m it is the average over the range: for m = 0 the mean of the n largest losses; for m = n - 1 the
    n-th largest loss.

    Parameters
    ----------
    losses : array-like of shape (n_losses,)
    m, n : int
        0 <= m < n <= n_losses.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        For NaN or infinity, and for an empty range or one beyond the number of losses.

    References
    ----------
    Hu, Ying, Wang and Lyu, "Learning by minimizing the sum of ranked range", NeurIPS 2020.

    Examples
    --------
    >>> from kernbench.metrics import ranked_range
    >>> ranked_range([5, 1, 4, 2, 3], 1, 3)
    7.0
    """
    losses = np.asarray(losses)
    if losses.ndim != 1:
        raise ValueError(f"losses must be one-dimensional, got shape {losses.shape}")
    losses, size = checked_scores(losses, len(losses), name="losses"), len(losses)
    if not (is_integer(m) and is_integer(n) and 0 <= m < n <= size):
        raise ValueError(f"m and n must be integers with 0 <= m < n <= {size}, got m={m!r}, n={n!r}")
    first, last = size - n, size - m - 1  # in ascending order
    return float(np.partition(losses, (first, last))[first : last + 1].sum())


TIES = ("half", "miss")
EPS = float(np.finfo(np.float64).eps)
THRESHOLDS = {
    "sensitivity": thresholds.for_sensitivity,
    "specificity": thresholds.for_specificity,
    "precision": thresholds.for_precision,
    "cost": thresholds.for_cost,
}


def _check_cost(cost):
    costs = cost if isinstance(cost, tuple | list | np.ndarray) else ()
    if len(costs) != 2 or not all(is_number(value) and value >= 0 for value in costs) or not max(costs) > 0:
        raise ValueError(
            "cost must be a pair, the cost of a false positive and that of a false negative, at least 0 and not both "
            f"0, got {cost!r}"
        )


def _area(score, positive, weights, fpr_range, tpr_range, ties):
    """Return the share of a rectangle of rates that lies below the curve.

    The arguments have been checked, except for scores that are not finite, and ranges that are empty up to rounding.
    """
    low, high = fpr_range
    if high - low <= EPS * high:  # the weights of the negatives up to both ends may be equal
        raise ValueError(f"fpr_range={fpr_range!r} is too narrow: its ends are equal up to rounding")
    if tpr_range == (0.0, 1.0) and ties == "half":
        return roc_area(score, positive, weights, *fpr_range)
    x, y, _ = roc_vertices(checked_scores(score, len(positive), name="score"), positive, weights)
    return area_between(x, y, fpr_range, tpr_range, ties)


def _two_of_each_class(y, score, pos_label, confidence):
    """Return the scores and the mask of positives; raise ValueError unless a variance can be estimated from them."""
    check_number("confidence", confidence, above=0, below=1)
    score, positive, _ = scored_problem(y, score, None, pos_label)
    if min(np.count_nonzero(positive), np.count_nonzero(~positive)) < 2:
        raise ValueError("an interval needs at least two samples of each class")
    return score, positive
