"""Names of the losses of pairs: what solvers of alpha/2 ||f||^2 + mean over pairs offer."""

from kernbench._names import unknown_name

HINGE, SQUARED_HINGE = "hinge", "squared_hinge"
PAIRWISE_LOSSES = (HINGE, SQUARED_HINGE)


def require_loss(loss, offered=PAIRWISE_LOSSES):
    """Return `loss` if it is among the names `offered`.

    Raises
    ------
    ValueError
        Which says the nearest name, or that the loss exists but not here.
    """
    if loss in PAIRWISE_LOSSES and loss not in offered:
        raise ValueError(f"this solver minimises loss={' or '.join(map(repr, offered))} only, not {loss!r}")
    if loss not in offered:
        raise ValueError(unknown_name("loss", loss, offered))
    return loss
