"""Names of the losses of pairs, for solvers of alpha/2 ||f||^2 + the mean over pairs."""

from kernbench.losses.base import check_offered
from kernbench.losses.table import losses_of

HINGE, SQUARED_HINGE, LOG_LOSS = "hinge", "squared_hinge", "log_loss"
PAIRWISE_LOSSES = losses_of("pair")


def require_loss(loss, offered=PAIRWISE_LOSSES):
    """Return `loss` if it is among the names `offered`.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, or for a loss that is not offered.
    """
    return check_offered(loss, offered, PAIRWISE_LOSSES)
