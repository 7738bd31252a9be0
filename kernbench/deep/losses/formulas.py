"""The losses of `kernbench.losses` on tensors: their values and, of a difference of two scores, their slopes.

What they are losses of, and their parameters, are those of the table. A new row of it needs its formula here.
"""

import torch
from torch.nn import functional

from kernbench.losses.regression import RESIDUAL_LOSSES
from kernbench.losses.table import losses_of

DELTA, EPSILON = RESIDUAL_LOSSES["huber"].default, RESIDUAL_LOSSES["epsilon_insensitive"].default

VALUES = {
    "hinge": lambda z: torch.relu(1.0 - z),
    "squared_hinge": lambda z: torch.relu(1.0 - z).square(),
    "log_loss": lambda z: -functional.logsigmoid(z),
    "squared_error": lambda r: 0.5 * r.square(),
    "absolute_error": torch.abs,
    "huber": lambda r: functional.huber_loss(r, torch.zeros_like(r), reduction="none", delta=DELTA),
    "epsilon_insensitive": lambda r: torch.relu(r.abs() - EPSILON),
}
SLOPES = {  # 0 at the kink of the hinge
    "hinge": lambda z: -(z < 1.0).to(z.dtype),
    "squared_hinge": lambda z: -2.0 * torch.relu(1.0 - z),
    "log_loss": lambda z: -torch.sigmoid(-z),
}

RANKED = tuple(name for name in losses_of("rank") if name in VALUES)
PAIRED = tuple(name for name in losses_of("pair", first="log_loss") if name in SLOPES)
OF_MARGINS = frozenset(losses_of("margin"))
