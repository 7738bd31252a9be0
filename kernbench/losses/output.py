"""Losses of outputs u = f(x): value, and slope with respect to u. In C: ``_output.h``.

===================  ===========================================  ==========================================
loss                 l(u, y)                                      dl/du
===================  ===========================================  ==========================================
hinge                max(0, 1 - y u), y = -1 or +1                -y where y u < 1
squared_hinge        max(0, 1 - y u)^2                            -2 y max(0, 1 - y u)
log_loss             log(1 + exp(-y u))                           -y / (1 + exp(y u))
softmax              log sum_c exp(u_c) - u_y, y = 0 .. C - 1     exp(u_c) / sum exp(u) - [c = y]
squared_error        r^2 / 2 with r = u - y                       r
huber                r^2 / 2, beyond delta delta (|r| - delta/2)  r clipped to [-delta, delta]
epsilon_insensitive  max(0, |r| - epsilon)                        sign(r) where |r| > epsilon
... and its square   max(0, |r| - epsilon)^2                      2 sign(r) max(0, |r| - epsilon)
absolute_error       |r|                                          sign(r)
quantile             max(q (y - u), (1 - q) (u - y))              1 - q where u >= y, else -q
novelty              max(0, tau - u)                              -1 where u < tau
density_ratio        exp(u) for y = -1 (a row of Q), -u for +1    exp(u), and -1
===================  ===========================================  ==========================================

The squared hinge has no factor 1/2, as everywhere in this package. The minimiser of the last one is log(p / q); its
exponent is clipped at `LARGEST_EXPONENT`.

Arrays of outputs have a row for each example and a column for each output; losses of one number per entry add up over
the columns.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from kernbench._names import unknown_name
from kernbench.losses.margin import Hinge, LogLoss, SquaredHinge
from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.validation.numbers import check_number

LARGEST_EXPONENT = 30.0


class OutputLoss:
    """A loss of an output.

    Parameters
    ----------
    parameter : float, default=0.0
        delta, epsilon, the quantile, or the level tau, which may be set later.

    Attributes
    ----------
    name : str
    code : int
        Its number in compiled code.
    bounds : dict or None
        Of the parameter, as `kernbench.validation.numbers.check_number` takes them; None without a parameter.
    """

    name, code, bounds = "", -1, None

    def __init__(self, parameter=0.0):
        self.parameter = float(parameter)

    def value(self, U, y):
        """Return the loss of each example.

        Parameters
        ----------
        U : ndarray of shape (n, n_outputs)
        y : ndarray of shape (n,) or (n, n_outputs)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._values(U, _columns(y)).sum(axis=1)

    def slope(self, U, y):
        """Return the derivatives of the losses with respect to U, an array of its shape."""
        return self._slopes(U, _columns(y))


def _columns(y):
    return y[:, None] if np.ndim(y) == 1 else y


class _MarginLoss(OutputLoss):
    """A loss of the margin y u: those of :mod:`kernbench.losses.margin`."""

    margin = None

    def _values(self, U, y):
        return self.margin.value(y * U)

    def _slopes(self, U, y):
        return y * self.margin.slope(y * U)


class HingeLoss(_MarginLoss):
    name, code, margin = "hinge", 0, Hinge


class SquaredHingeLoss(_MarginLoss):
    name, code, margin = "squared_hinge", 1, SquaredHinge


class LogisticLoss(_MarginLoss):
    name, code, margin = "log_loss", 2, LogLoss


class Softmax(OutputLoss):
    name, code = "softmax", 3

    def value(self, U, y):
        return logsumexp(U, axis=1) - U[np.arange(len(U)), np.asarray(y, dtype=np.intp)]

    def slope(self, U, y):
        slopes = softmax(U, axis=1)
        slopes[np.arange(len(U)), np.asarray(y, dtype=np.intp)] -= 1.0
        return slopes


class _ResidualLoss(OutputLoss):
    """A loss of the residual u - y: those of :mod:`kernbench.losses.regression`."""

    residual = None

    def __init__(self, parameter=0.0):
        super().__init__(parameter)
        self._loss = self.residual(parameter)

    def _values(self, U, y):
        return self._loss.value(U - y)

    def _slopes(self, U, y):
        return self._loss.slope(U - y)


def _of_residual(residual):
    """Return the class of the outputs' loss that is `residual` of u - y."""
    names = {"name": residual.name, "code": residual.code, "bounds": residual.bounds, "residual": residual}
    return type(residual.__name__, (_ResidualLoss,), {**names, "__module__": __name__})


class Novelty(OutputLoss):
    """max(0, tau - u): what is unlike the training rows scores below the level tau."""

    name, code = "novelty", 9

    def value(self, U, y=None):
        return np.maximum(0.0, self.parameter - U).sum(axis=1)

    def slope(self, U, y=None):
        return np.where(U < self.parameter, -1.0, 0.0)


class DensityRatio(OutputLoss):
    """exp(u) of rows of Q, -u of rows of P: Kullback and Leibler's divergence by its variational form."""

    name, code = "density_ratio", 10

    def _values(self, U, y):
        return np.where(y > 0, -U, np.exp(np.minimum(U, LARGEST_EXPONENT)))

    def _slopes(self, U, y):
        return np.where(y > 0, -1.0, np.exp(np.minimum(U, LARGEST_EXPONENT)))


OUTPUT_LOSSES = {
    loss.name: loss
    for loss in (
        HingeLoss,
        SquaredHingeLoss,
        LogisticLoss,
        Softmax,
        *map(_of_residual, RESIDUAL_LOSSES.values()),
        Novelty,
        DensityRatio,
    )
}
PARAMETERS = {loss.name: loss.parameter_name for loss in RESIDUAL_LOSSES.values() if loss.parameter_name}


def output_loss(name, *, delta=1.0, epsilon=0.1, quantile=0.5, offered=None):
    """Return the loss called `name`.

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
        For an unknown name, with the nearest known one, or one that is not offered, and for a parameter out of bounds.
    """
    offered = tuple(OUTPUT_LOSSES) if offered is None else tuple(offered)
    if isinstance(name, str) and name in OUTPUT_LOSSES and name not in offered:
        raise ValueError(f"this model minimises loss={' or '.join(map(repr, offered))} only, not {name!r}")
    if not isinstance(name, str) or name not in offered:
        raise ValueError(unknown_name("loss", name, offered))
    chosen = OUTPUT_LOSSES[name]
    if chosen.bounds is None:
        return chosen()
    parameter = {"delta": delta, "epsilon": epsilon, "quantile": quantile}[PARAMETERS[name]]
    return chosen(check_number(PARAMETERS[name], parameter, **chosen.bounds))
