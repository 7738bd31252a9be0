"""Chebyshev coefficients of the logistic loss between two cells of scores (see ``_logistic.h``)."""

from functools import cache

import numpy as np
from scipy.special import expit

NODES = 32  # for the coefficients: enough that theirs, not the table's, is the error


@cache
def interactions(near, terms):
    """Return the coefficients of log(1 + exp(-t)), its derivative and the second one.

    Parameters
    ----------
    near : int
        The largest distance of two cells.
    terms : int

    Returns
    -------
    ndarray of shape (3, 2 near + 1, terms, terms)
        F_kl of f(o + x + y) = sum_kl F_kl T_k(2x) T_l(2y) for |x|, |y| <= 1/2, for o = -near .. near.
    """
    angles = np.pi * (np.arange(NODES) + 0.5) / NODES
    transform = 2.0 / NODES * np.cos(np.arange(terms)[:, None] * angles)
    transform[0] *= 0.5
    places = 0.5 * np.cos(angles)
    t = np.arange(-near, near + 1)[:, None, None] + (places[:, None] + places)
    p = expit(-t)
    return np.ascontiguousarray([transform @ f @ transform.T for f in (np.logaddexp(0, -t), -p, p * expit(t))])
