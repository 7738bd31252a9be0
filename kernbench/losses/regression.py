"""Losses of a residual r = f(x) - y: value, slope, conjugate, and the step of dual coordinate ascent.

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

from kernbench._names import unknown_name
from kernbench.losses.margin import MARGIN_LOSSES, margin_loss
from kernbench.validation.numbers import check_number


class ResidualLoss:
    """A loss of a residual.

    Parameters
    ----------
    parameter : float, optional
        delta, epsilon or the quantile; `default` if it is not given.

    Attributes
    ----------
    name : str
    code : int
        Its number in compiled code.
    parameter_name : str or None
        What the parameter is called, None for a loss without one.
    bounds : dict or None
        Of the parameter, as `kernbench.validation.numbers.check_number` takes them; None without a parameter.
    smoothness : float
        The largest second derivative, infinite where there is a kink.
    lower, upper, zone, bend : float
        Domain and coefficients of psi.
    """

    name, code, parameter_name, bounds, default = "", -1, None, None, 0.0
    smoothness, bend, zone, lower, upper = np.inf, 0.0, 0.0, -1.0, 1.0

    def __init__(self, parameter=None):
        self.parameter = self.default if parameter is None else float(parameter)

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

    def value(self, residuals):
        return 0.5 * np.square(residuals)

    def slope(self, residuals):
        return np.array(residuals, dtype=np.float64)


class Huber(ResidualLoss):
    """r^2 / 2, linear beyond |r| = delta."""

    name, code, parameter_name, bounds, default = "huber", 5, "delta", {"above": 0}, 1.0
    smoothness, bend = 1.0, 1.0

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


class EpsilonInsensitive(ResidualLoss):
    """max(0, |r| - epsilon); the slope at both kinks is 0."""

    name, code, parameter_name, bounds, default = "epsilon_insensitive", 6, "epsilon", {"at_least": 0}, 0.1

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
    default, smoothness, bend, lower, upper = 0.1, 2.0, 0.5, -np.inf, np.inf

    @property
    def zone(self):
        return self.parameter

    def value(self, residuals):
        return np.square(np.maximum(0.0, np.abs(residuals) - self.parameter))

    def slope(self, residuals):
        return 2.0 * np.sign(residuals) * np.maximum(0.0, np.abs(residuals) - self.parameter)


class AbsoluteError(ResidualLoss):
    """|r|; the slope at 0 is 0."""

    name, code = "absolute_error", 7

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
# Those that rank by |r|, with their default parameters: a range of ranks sorts residuals by size.
REGRESSION_LOSSES = {
    name: RESIDUAL_LOSSES[name]() for name in ("squared_error", "absolute_error", "huber", "epsilon_insensitive")
}


def regression_loss(name, *, delta=1.0, epsilon=0.1, quantile=0.5, offered=None):
    """Return the loss of a residual called `name`.

    Parameters
    ----------
    name : str
    delta, epsilon, quantile : float
        Each is looked at by the loss of that parameter only.
    offered : tuple of str, optional
        Names that the caller accepts; all by default.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, and for a parameter out of bounds.
    """
    if not isinstance(name, str) or name not in RESIDUAL_LOSSES or name not in (offered or RESIDUAL_LOSSES):
        raise ValueError(unknown_name("loss", name, tuple(offered or RESIDUAL_LOSSES)))
    chosen = RESIDUAL_LOSSES[name]
    if chosen.bounds is None:
        return chosen()
    parameter = {"delta": delta, "epsilon": epsilon, "quantile": quantile}[chosen.parameter_name]
    return chosen(check_number(chosen.parameter_name, parameter, **chosen.bounds))


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
    if offered is not None and name not in offered:
        raise ValueError(f"this solver minimises loss={' or '.join(map(repr, offered))} only, not {name!r}")
    return loss if isinstance(loss, ResidualLoss) else RESIDUAL_LOSSES[name]()


EXAMPLE_LOSSES = (*MARGIN_LOSSES, *RESIDUAL_LOSSES)
QUADRATIC_LOSSES = tuple(name for name in EXAMPLE_LOSSES if name != "log_loss")  # the dual is a quadratic programme
