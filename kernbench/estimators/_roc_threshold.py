"""From a wish to an intercept: a row is positive where score + intercept >= 0."""

import numpy as np

from kernbench.estimators._roc_parameters import YOUDEN
from kernbench.ranking import thresholds


def intercept_for(threshold, scores, positive, weights=None, rounding=0.0):
    """Return the intercept that `threshold` means on these scores.

    Parameters
    ----------
    threshold : "youden", float, ("sensitivity", s) or ("specificity", q)
    scores : ndarray of shape (n,)
    positive : ndarray of shape (n,), bool
    weights : ndarray of shape (n,), optional
    rounding : float, default=0.0
        A threshold at a score stands so far to the safe side of it: the score may come out a little different
        in another batch of rows, and the wish must hold there too.
    """
    if isinstance(threshold, str) and threshold == YOUDEN:
        return -_youden(scores, positive, weights)
    if not isinstance(threshold, tuple | list):
        return -float(threshold)
    name, wish = threshold
    if name == "sensitivity":
        return rounding - thresholds.for_sensitivity(scores, positive, wish, weights)
    return -rounding - thresholds.for_specificity(scores, positive, wish, weights)


def _youden(scores, positive, weights):
    """The threshold of largest sensitivity + specificity, half way between two scores.

    Of equally good ones, that of the larger accuracy.
    """
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    descending, mine, w = scores[order], positive[order], weights[order]
    last = np.append(np.flatnonzero(descending[:-1] != descending[1:]), len(order) - 1)  # of each score
    hits = np.concatenate([[0.0], np.cumsum(np.where(mine, w, 0.0))[last]])
    alarms = np.concatenate([[0.0], np.cumsum(np.where(mine, 0.0, w))[last]])
    index = hits / hits[-1] - alarms / alarms[-1]
    good = np.flatnonzero(index >= index.max() - 1e-12)
    k = good[np.argmax(hits[good] - alarms[good])]  # positive are the k largest distinct scores
    distinct = descending[last]
    if k == 0:
        return float(np.nextafter(distinct[0], np.inf))
    if k == len(distinct):
        return float(distinct[-1])
    middle = 0.5 * distinct[k - 1] + 0.5 * distinct[k]
    return float(middle if middle > distinct[k] else distinct[k - 1])
