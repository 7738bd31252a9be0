"""Names of the losses of pairs, for solvers of alpha/2 ||f||^2 + the mean over pairs."""

from kernbench._names import unknown_name

HINGE, SQUARED_HINGE, LOG_LOSS = "hinge", "squared_hinge", "log_loss"
PAIRWISE_LOSSES = (HINGE, SQUARED_HINGE, LOG_LOSS)  # their codes in compiled code are those of losses.margin


def require_loss(loss, offered=PAIRWISE_LOSSES):
    """Return `loss` if it is among the names `offered`.

    Raises
    ------
    ValueError
        For an unknown name, with the nearest known one, or for a loss that is not offered.
    """
    if loss in PAIRWISE_LOSSES and loss not in offered:
        raise ValueError(f"this solver minimises loss={' or '.join(map(repr, offered))} only, not {loss!r}")
    if loss not in offered:
        raise ValueError(unknown_name("loss", loss, offered))
    return loss
