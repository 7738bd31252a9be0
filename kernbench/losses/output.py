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
truncated_ratio      max(0, u) for -1; for +1 -log u where         1 where u > 0; -1 / max(u, floor)
                     u >= floor, and its tangent below
===================  ===========================================  ==========================================

The squared hinge has no factor 1/2, as everywhere in this package. The minimiser of the density ratio is log(p / q);
its exponent is clipped at `LARGEST_EXPONENT`. That of the truncated one is p / q itself, and 0 where this is below the
floor.

Arrays of outputs have a row for each example and a column for each output; losses of one number per entry add up over
the columns.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from kernbench.losses.base import Loss, check_offered, with_parameter
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.regression import RESIDUAL_LOSSES

LARGEST_EXPONENT = 30.0
SAME = ("name", "code", "smoothness", "flat", "parameter_name", "bounds", "default")  # for a loss and that of an output


class OutputLoss(Loss):
    """A loss of an output.

    Parameters
    ----------
    parameter : float, default=0.0
        delta, epsilon, the quantile, the floor, or the level tau, which may be set later.

    Attributes
    ----------
    of_two_samples : bool
        Whether rows are of two samples, which batches give the same mass.
    """

    kinds = ("output",)
    of_two_samples = False

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


def _as_output(loss):
    """Return the class of the outputs' loss that is `loss` of the margin y u, or of the residual u - y."""
    base, of = (_MarginLoss, "margin") if "margin" in loss.kinds else (_ResidualLoss, "residual")
    same = {name: getattr(loss, name) for name in SAME}
    return type(loss.__name__, (base,), {**same, of: loss, "__module__": __name__})


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
    of_two_samples = True

    def _values(self, U, y):
        return np.where(y > 0, -U, np.exp(np.minimum(U, LARGEST_EXPONENT)))

    def _slopes(self, U, y):
        return np.where(y > 0, -1.0, np.exp(np.minimum(U, LARGEST_EXPONENT)))


class TruncatedRatio(OutputLoss):
    """max(0, u) of rows of Q; of rows of P -log u, and its tangent below the floor.

    Minimised by p / q where that is above the floor, and 0 elsewhere. With rho = -log(floor) these are, up to
    constants, r* of r(t) = max(0, rho - log t) in the variational form of E_p r(q / p), Smola, Song and Teo's relative
    novelty; as the floor goes to 0, Nguyen, Wainwright and Jordan's estimator of the ratio itself.
    """

    name, code, parameter_name, bounds, default = "truncated_ratio", 20, "floor", {"above": 0}, 0.1
    of_two_samples = True

    def __init__(self, parameter=default):
        super().__init__(parameter)

    def _values(self, U, y):
        logs = np.log(np.maximum(U, self.parameter))
        return np.where(y > 0, np.maximum(0.0, 1.0 - U / self.parameter) - logs, np.maximum(0.0, U))

    def _slopes(self, U, y):
        return np.where(y > 0, -1.0 / np.maximum(U, self.parameter), np.where(U > 0, 1.0, 0.0))


OWN_LOSSES = (Softmax, Novelty, DensityRatio, TruncatedRatio)  # those that are losses of an output only
OUTPUT_LOSSES = {
    loss.name: loss
    for loss in (
        *map(_as_output, MARGIN_LOSSES.values()),
        Softmax,
        *map(_as_output, RESIDUAL_LOSSES.values()),
        Novelty,
        DensityRatio,
        TruncatedRatio,
    )
}


def output_loss(name, *, offered=None, **parameters):
    """Return the loss called `name`.

    Parameters
    ----------
    name : str
    offered : tuple of str, optional
        Names that the caller accepts; all by default.
    **parameters : float
        ``delta``, ``epsilon``, ``quantile`` and ``floor``: all are checked, each is used by the losses with that
        parameter only.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, or one that is not offered, and for a parameter out of bounds.
    """
    offered = OUTPUT_LOSSES if offered is None else offered
    loss = OUTPUT_LOSSES[check_offered(name, offered, OUTPUT_LOSSES, of="model")]
    return with_parameter(loss, parameters, OUTPUT_LOSSES.values())
