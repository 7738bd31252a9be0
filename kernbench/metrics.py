"""Scores of rankings: the ROC curve, areas under it, thresholds, and the sum of ranked range.

A higher score means positive, ties count half, and of the two labels the larger one is positive unless
`pos_label` says otherwise.
"""

import numpy as np

from kernbench.ranking import thresholds
from kernbench.ranking._roc import roc_area
from kernbench.ranking.checks import checked_scores, checked_weights, in_units_of_the_classes
from kernbench.ranking.curve import corners, roc_vertices
from kernbench.validation.numbers import check_number, is_integer

__all__ = ["partial_auc", "ranked_range", "roc_auc", "roc_curve", "threshold_for"]


def roc_auc(y, score, *, sample_weight=None, pos_label=None):
    """Area under the ROC curve: the chance that a positive scores higher than a negative, ties counting half.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; a pair weighs the product of its samples' weights.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        One class only (or only one with weight), more than two, NaN or infinity, different lengths.

    See Also
    --------
    partial_auc : the area over a range of false positive rates.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return roc_area(*_problem(y, score, sample_weight, pos_label))


def partial_auc(y, score, fpr_range=(0.0, 1.0), *, sample_weight=None, pos_label=None):
    """Mean height of the ROC curve over a range of false positive rates: the partial area over its width.

    The curve is piecewise linear, ties being sloping pieces, and the ends of the range may fall anywhere
    on it. A perfect ranking has 1, a random one (a + b) / 2. This is not the value of scikit-learn's
    ``roc_auc_score(max_fpr=b)``, which is standardised (McClish 1989): with p = ``partial_auc`` over
    (0, b) that is ``0.5 * (1 + (p - b/2) / (1 - b/2))``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    fpr_range : (float, float), default=(0.0, 1.0)
        (a, b) with 0 <= a < b <= 1.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        As for :func:`roc_auc`, or an empty range.

    Examples
    --------
    >>> partial_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr_range=(0, 0.5))
    0.5
    """
    try:
        low, high = (float(end) for end in fpr_range)
    except (TypeError, ValueError):
        raise ValueError(f"fpr_range must be a pair (a, b) of numbers, got {fpr_range!r}") from None
    if not 0 <= low < high <= 1:
        raise ValueError(f"fpr_range must be (a, b) with 0 <= a < b <= 1, got {fpr_range!r}")
    return roc_area(*_problem(y, score, sample_weight, pos_label), low, high)


def roc_curve(y, score, *, sample_weight=None, pos_label=None, drop_intermediate=True):
    """Vertices of the ROC curve, from (0, 0) to (1, 1).

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; samples of weight 0 are not looked at.
    pos_label : label, optional
        The positive class; by default the larger label.
    drop_intermediate : bool, default=True
        Leave out the vertices between two pieces of one direction, which a drawing does not need, but for
        the highest score; otherwise there is one vertex for each distinct score.

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
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    score, positive, weights = _problem(y, score, sample_weight, pos_label)
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


def threshold_for(y, score, *, sensitivity=None, specificity=None, sample_weight=None, pos_label=None):
    """Threshold for a wished sensitivity or specificity, under the rule "positive if score >= threshold".

    For a sensitivity s it is the largest threshold whose true positive rate is at least s: a score of a
    positive, or infinity for s = 0. For a specificity q it lies half way between the smallest negative
    score that leaves a true negative rate of at least q and the next larger score of either class (just
    above it if there is none); minus infinity for q = 0. Ties can overshoot what is wished for, never miss
    it.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Two different labels: numbers, booleans or strings.
    score : array-like of shape (n_samples,)
        Decision values or probabilities of the positive class.
    sensitivity, specificity : float
        One of the two, in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        At least 0; samples of weight 0 are not looked at.
    pos_label : label, optional
        The positive class; by default the larger label.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As for :func:`roc_auc`, or not exactly one of the two wishes.

    Examples
    --------
    >>> y, score = [1, 1, 1, 0, 0, 0, 0], [3, 2, 1, 2.5, 1, 0, -1]
    >>> threshold_for(y, score, sensitivity=0.6)
    2.0
    >>> threshold_for(y, score, specificity=0.75)
    1.5
    """
    if (sensitivity is None) == (specificity is None):
        raise ValueError("say either sensitivity= or specificity=")
    name, wish = ("sensitivity", sensitivity) if specificity is None else ("specificity", specificity)
    check_number(name, wish, at_least=0, at_most=1)
    score, positive, weights = _problem(y, score, sample_weight, pos_label)
    score = checked_scores(score, len(positive), name="score")
    if specificity is None:
        return thresholds.for_sensitivity(score, positive, wish, weights)
    return thresholds.for_specificity(score, positive, wish, weights)


def ranked_range(losses, m, n):
    """Sum of the losses ranked m + 1 to n, the largest being the first: the sum of ranked range.

    Divided by n - m it is the average of ranked range: for m = 0 that of the n largest losses; for
    m = n - 1 the n-th largest loss.

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
        NaN or infinity, an empty range.

    References
    ----------
    Hu, Ying, Wang and Lyu, "Learning by minimizing the sum of ranked range", NeurIPS 2020.

    Examples
    --------
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


def _problem(y, score, sample_weight, pos_label):
    """Return score, positives and weights, checked; that the scores are finite remains to be seen."""
    positive = _positives(_column(y, "y"), pos_label)
    if np.ndim(score) == 2 and np.shape(score)[1] > 1:
        shape = np.shape(score)
        raise ValueError(f"score must be one column, got shape {shape}: take that of the positive class")
    score = _column(score, "score")
    if len(score) != len(positive):
        found = f"{len(positive)} labels and {len(score)} scores"
        raise ValueError(f"y and score must be equally long, got {found}")
    if score.dtype.kind == "c":
        raise ValueError("score must hold real numbers, got complex ones")
    try:
        score = np.ascontiguousarray(score, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"score must hold numbers, got {score.dtype}") from None
    if sample_weight is None:
        return score, positive, None
    weights = checked_weights(sample_weight, len(positive))
    if not all(np.compress(members, weights).any() for members in (positive, ~positive)):
        raise ValueError("one class has no weight: the ROC curve is not defined")
    return score, positive, in_units_of_the_classes(weights, positive)


def _column(values, name):
    """Return a list of values, or a single column of them, as an array of shape (n,)."""
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
    return values


def _positives(y, pos_label):
    """Return which labels are positive; there must be two."""
    if len(y) == 0:
        raise ValueError("y is empty")
    if y.dtype.kind in "biuf":
        labels = np.array([y.min(), y.max()])
        if np.isnan(labels).any():
            raise ValueError("y contains NaN")
        positive = y == labels[1]
        two = y.dtype == bool or bool(np.all(positive | (y == labels[0])))
    else:
        try:
            labels = np.unique(y)
        except TypeError:
            raise ValueError("y must hold labels of one kind, not a mixture of numbers and strings") from None
        if np.any(y != y):
            raise ValueError("y contains NaN")
        positive, two = y == labels[-1], len(labels) <= 2
    if not two or labels[0] == labels[-1]:
        found = f"only {labels[0]}" if two else "more than two"
        raise ValueError(f"y must hold two different labels, found {found}: the ROC curve is not defined")
    if pos_label is None or pos_label == labels[-1]:
        return positive
    if pos_label != labels[0]:
        raise ValueError(f"pos_label={pos_label!r} is not a label: y holds {labels[0]} and {labels[-1]}")
    return ~positive
