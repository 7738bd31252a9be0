"""Losses of a residual r = f(x) - y: value, slope, curvature, conjugate, and the step of dual coordinate ascent.

===================  ====================================  ===========================  ============  ===========
loss                 l(r)                                  l'(r)                        psi(a)        domain of a
===================  ====================================  ===========================  ============  ===========
squared_error        r^2 / 2                               r                            -a^2 / 2      all numbers
huber                r^2 / 2, d (|r| - d/2) beyond delta   r clipped to [-d, d]         -a^2 / 2      [-d, d]
epsilon_insensitive  max(0, |r| - epsilon)                 sign r where |r| > epsilon   -epsilon |a|  [-1, 1]
absolute_error       |r|                                   sign r                       0             [-1, 1]
quantile             max(-q r, (1 - q) r)                  1 - q where r >= 0, else -q  0             [q - 1, q]
===================  ====================================  ===========================  ============  ===========

``squared_epsilon_insensitive`` is the square of epsilon_insensitive: l'(r) is 2 sign r max(0, |r| - epsilon), psi(a) is
-epsilon |a| - a^2 / 4 for all numbers a. Here d is delta and q the quantile.

The dual of alpha/2 ||f||^2 + (1/n) sum_i w_i l(f(x_i) - y_i) is

    D(a) = (1/n) sum_i w_i (psi(a_i) + a_i y_i) - 1/(2 alpha n^2) sum_ij w_i a_i K_ij a_j w_j,      psi(a) = -l*(-a),

and at the optimum a_i = -l'(r_i) and f = 1/(alpha n) sum_i w_i a_i k(x_i, .). That is the dual of a margin (see
`losses.margin`) with y_i = 1 there and the margin minus the target in place of the margin. All these psi have the form
-zone |a| - bend/2 a^2 on an interval, so that one formula gives the steps. The formulas in C are in ``_regression.h``.
"""

import numpy as np

from kernbench.losses.base import Loss, check_offered, with_parameter
from kernbench.losses.margin import MARGIN_LOSSES, margin_loss

RANKED = ("residual", "rank", "output")  # kinds of a loss that grows with |r|: a range of ranks sorts residuals by size


class ResidualLoss(Loss):
    """A loss of a residual.

    Parameters
    ----------
    parameter : float, optional
        delta, epsilon or the quantile; `default` if it is not given.

    Attributes
    ----------
    lower, upper, zone, bend : float
        Domain and coefficients of psi.
    """

    kinds, bend, zone, lower, upper = ("residual", "output"), 0.0, 0.0, -1.0, 1.0

    def __init__(self, parameter=None):
        self.parameter = self.default if parameter is None else float(parameter)

    def curvature(self, residuals):
        """Return l'', at its jumps that of one side: 0 for a piecewise linear loss."""
        return np.zeros_like(residuals, dtype=np.float64)

    def dual_value(self, a):
        """Return psi(a) = -l*(-a), for a in its domain."""
        return -self.zone * np.abs(a) - 0.5 * self.bend * np.square(a)

    def dual_coordinate(self, a, residual, curvature):
        """Return the a' that maximises psi(a') - residual (a' - a) - curvature/2 (a' - a)^2."""
        total = self.bend + curvature
        if not total > 0.0:
            return self.upper if residual < -self.zone else self.lower if residual > self.zone else 0.0
        u = a - (residual + self.bend * a) / total
        size = max(abs(u) - self.zone / total, 0.0)
        return min(max(-size if u < 0.0 else size, self.lower), self.upper)

    def dual_slopes(self, a, residual):
        """Return the derivatives of a r - psi(a) to the left and to the right of a, infinite at the ends of the
        domain: a is optimal where the first is at most 0 and the second at least 0."""
        smooth, a = residual + self.bend * np.asarray(a), np.asarray(a)
        left = np.where(a <= self.lower, -np.inf, smooth + np.where(a > 0.0, self.zone, -self.zone))
        right = np.where(a >= self.upper, np.inf, smooth + np.where(a >= 0.0, self.zone, -self.zone))
        return left, right


class SquaredError(ResidualLoss):
    """r^2 / 2."""

    name, code, smoothness, bend, lower, upper = "squared_error", 4, 1.0, 1.0, -np.inf, np.inf
    kinds = RANKED

    def value(self, residuals):
        return 0.5 * np.square(residuals)

    def slope(self, residuals):
        return np.array(residuals, dtype=np.float64)

    def curvature(self, residuals):
        return np.ones_like(residuals, dtype=np.float64)


class Huber(ResidualLoss):
    """r^2 / 2, linear beyond |r| = delta."""

    name, code, parameter_name, bounds, default = "huber", 5, "delta", {"above": 0}, 1.0
    kinds, smoothness, bend = RANKED, 1.0, 1.0

    @property
    def lower(self):
        return -self.parameter

    @property
    def upper(self):
        return self.parameter

    def value(self, residuals):
        size, delta = np.abs(residuals), self.parameter
        return np.where(size <= delta, 0.5 * np.square(np.minimum(size, delta)), delta * (size - 0.5 * delta))

    def slope(self, residuals):
        return np.clip(residuals, -self.parameter, self.parameter)

    def curvature(self, residuals):
        return np.where(np.abs(residuals) <= self.parameter, 1.0, 0.0)


class EpsilonInsensitive(ResidualLoss):
    """max(0, |r| - epsilon); the slope at both kinks is 0."""

    name, code, parameter_name, bounds, default = "epsilon_insensitive", 6, "epsilon", {"at_least": 0}, 0.1
    kinds, flat = RANKED, True

    @property
    def zone(self):
        return self.parameter

    def value(self, residuals):
        return np.maximum(0.0, np.abs(residuals) - self.parameter)

    def slope(self, residuals):
        return np.where(np.abs(residuals) > self.parameter, np.sign(residuals), 0.0)


class SquaredEpsilonInsensitive(ResidualLoss):
    """max(0, |r| - epsilon)^2."""

    name, code, parameter_name, bounds = "squared_epsilon_insensitive", 11, "epsilon", {"at_least": 0}
    default, flat, smoothness, bend, lower, upper = 0.1, True, 2.0, 0.5, -np.inf, np.inf

    @property
    def zone(self):
        return self.parameter

    def value(self, residuals):
        return np.square(np.maximum(0.0, np.abs(residuals) - self.parameter))

    def slope(self, residuals):
        return 2.0 * np.sign(residuals) * np.maximum(0.0, np.abs(residuals) - self.parameter)

    def curvature(self, residuals):
        return np.where(np.abs(residuals) > self.parameter, 2.0, 0.0)


class AbsoluteError(ResidualLoss):
    """|r|; the slope at 0 is 0."""

    name, code, kinds = "absolute_error", 7, RANKED

    def value(self, residuals):
        return np.abs(residuals)

    def slope(self, residuals):
        return np.sign(residuals)


class Quantile(ResidualLoss):
    """max(-q r, (1 - q) r); the slope at 0 is 1 - q."""

    name, code, parameter_name, bounds, default = "quantile", 8, "quantile", {"above": 0, "below": 1}, 0.5

    @property
    def lower(self):
        return self.parameter - 1.0

    @property
    def upper(self):
        return self.parameter

    def value(self, residuals):
        return np.maximum(self.parameter * -np.asarray(residuals), (1.0 - self.parameter) * residuals)

    def slope(self, residuals):
        return np.where(np.asarray(residuals) >= 0.0, 1.0 - self.parameter, -self.parameter)


RESIDUAL_LOSSES = {
    loss.name: loss
    for loss in (SquaredError, Huber, EpsilonInsensitive, SquaredEpsilonInsensitive, AbsoluteError, Quantile)
}
# Those of a range of ranks, with their default parameters.
REGRESSION_LOSSES = {name: loss() for name, loss in RESIDUAL_LOSSES.items() if "rank" in loss.kinds}


def regression_loss(name, *, offered=None, **parameters):
    """Return the loss of a residual called `name`.

    Parameters
    ----------
    name : str
    offered : tuple of str, optional
        Names that the caller accepts; all by default.
    **parameters : float
        ``delta``, ``epsilon`` and ``quantile``: all are checked, each is used by the losses with that parameter only.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, and for a parameter out of bounds.
    """
    offered = tuple(RESIDUAL_LOSSES) if offered is None else offered
    loss = RESIDUAL_LOSSES[check_offered(name, offered, offered)]
    return with_parameter(loss, parameters, RESIDUAL_LOSSES.values())


def example_loss(loss, offered=None):
    """Return the loss of a margin or of a residual that a solver was given.

    Parameters
    ----------
    loss : str or ResidualLoss
        A name stands for the loss with its default parameter.
    offered : tuple of str, optional
        Names that the solver accepts; all by default.

    Raises
    ------
    ValueError
        As `losses.margin.margin_loss`.
    """
    name = loss.name if isinstance(loss, ResidualLoss) else loss
    if not isinstance(name, str) or name not in RESIDUAL_LOSSES:
        return margin_loss(name, offered=offered)
    check_offered(name, RESIDUAL_LOSSES if offered is None else offered, RESIDUAL_LOSSES)
    return loss if isinstance(loss, ResidualLoss) else RESIDUAL_LOSSES[name]()


EXAMPLE_LOSSES = (*MARGIN_LOSSES, *RESIDUAL_LOSSES)
# Those whose dual is a quadratic programme.
QUADRATIC_LOSSES = tuple(name for name, loss in {**MARGIN_LOSSES, **RESIDUAL_LOSSES}.items() if loss.bend is not None)
