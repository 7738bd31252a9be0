"""Whether what a solution remembers of a risk of scores belongs to another one: its parameters, and its data.

A risk here has ``n``, ``positive``, ``weights`` (None where all are equal) and ``settings()``: alpha, and the numbers
on which the value of given scores depends besides the data.
"""

import numpy as np


def same_risk(risk, settings):
    """Return whether cuts of a risk with these settings are cuts of this one: all but alpha are equal."""
    return np.array_equal(settings[1:], risk.settings()[1:])


def signature(risk, scores):
    """Return two sums over scores, by which data are recognised: if they differ for the same f, the data differ."""
    w = 1.0 if risk.weights is None else risk.weights
    return np.array([np.sum(np.where(members, w, 0.0) * scores) for members in (risk.positive, ~risk.positive)])


def same_data(risk, known, scores):
    """Return whether a solution with a `known` signature belongs to the data on which its f has these scores, not all
    0."""
    size = np.abs(scores).max() * (risk.n if risk.weights is None else np.sum(risk.weights))
    return bool(size > 0 and np.all(np.abs(known - signature(risk, scores)) <= 1e-9 * size))
