"""Losses of a residual r = f(x) - y: value and slope.

===================  =======================================  ==============================
loss                 l(r)                                     l'(r)
===================  =======================================  ==============================
squared_error        r^2 / 2                                  r
absolute_error       |r|                                      sign r
huber                r^2 / 2, beyond |r| = 1 |r| - 1/2        r clipped to [-1, 1]
epsilon_insensitive  max(0, |r| - 0.1)                        sign r where |r| > 0.1, else 0
===================  =======================================  ==============================

The formulas in C are in ``_regression.h``.
"""

import numpy as np

from kernbench._names import unknown_name

EPSILON = 0.1  # half the width of the insensitive zone


class SquaredError:
    """r^2 / 2."""

    name, code, smoothness = "squared_error", 3, 1.0

    @staticmethod
    def value(residuals):
        return 0.5 * np.square(residuals)

    @staticmethod
    def slope(residuals):
        return np.array(residuals, dtype=np.float64)


class AbsoluteError:
    """|r|; the slope at 0 is 0."""

    name, code, smoothness = "absolute_error", 4, np.inf

    @staticmethod
    def value(residuals):
        return np.abs(residuals)

    @staticmethod
    def slope(residuals):
        return np.sign(residuals)


class Huber:
    """r^2 / 2, linear beyond |r| = 1."""

    name, code, smoothness = "huber", 5, 1.0

    @staticmethod
    def value(residuals):
        size = np.abs(residuals)
        return np.where(size <= 1.0, 0.5 * np.square(residuals), size - 0.5)

    @staticmethod
    def slope(residuals):
        return np.clip(residuals, -1.0, 1.0)


class EpsilonInsensitive:
    """max(0, |r| - 0.1); the slope at both kinks is 0."""

    name, code, smoothness = "epsilon_insensitive", 6, np.inf

    @staticmethod
    def value(residuals):
        return np.maximum(0.0, np.abs(residuals) - EPSILON)

    @staticmethod
    def slope(residuals):
        return np.where(np.abs(residuals) > EPSILON, np.sign(residuals), 0.0)


REGRESSION_LOSSES = {loss.name: loss for loss in (SquaredError, AbsoluteError, Huber, EpsilonInsensitive)}


def regression_loss(name):
    """Return the loss called `name`.

    Each has ``name``; ``code``, its number in compiled code; ``smoothness``, the largest second derivative (inf where
    there is a kink); ``value(r)`` and ``slope(r)``.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one.
    """
    if not isinstance(name, str) or name not in REGRESSION_LOSSES:
        raise ValueError(unknown_name("loss", name, tuple(REGRESSION_LOSSES)))
    return REGRESSION_LOSSES[name]
