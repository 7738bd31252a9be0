"""All losses in one list, from which methods and estimators take those of a kind with the properties that they need."""

import numpy as np

from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.losses.output import OWN_LOSSES
from kernbench.losses.regression import RESIDUAL_LOSSES

LOSSES = (*MARGIN_LOSSES.values(), *RESIDUAL_LOSSES.values(), *OWN_LOSSES)

PROPERTIES = {
    "smooth": lambda loss: bool(np.isfinite(loss.smoothness)),
    "flat": lambda loss: loss.flat,  # 0 on an interval
    "quadratic_dual": lambda loss: loss.bend is not None,
    "piecewise_linear": lambda loss: loss.bend == 0.0,
}


def losses_of(*kinds, first=None, **properties):
    """Return the names of the losses of any of these kinds that have these properties.

    Parameters
    ----------
    *kinds : {"margin", "residual", "pair", "rank", "output"}
    first : str, optional
        The name to begin with: that of the default.
    **properties : bool
        ``smooth``, ``flat``, ``quadratic_dual`` or ``piecewise_linear``: whether the loss has it or not.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from kernbench.losses.table import losses_of
    >>> losses_of("margin", smooth=True)
    ('squared_hinge', 'log_loss')
    >>> losses_of("margin", "residual", quadratic_dual=False)
    ('log_loss',)
    """
    names = [
        loss.name
        for loss in LOSSES
        if set(kinds) & set(loss.kinds) and all(PROPERTIES[name](loss) == has for name, has in properties.items())
    ]
    return tuple(sorted(names, key=lambda name: name != first))
