"""Optimisers with state beyond the parameters: thresholds of all data, centres of the classes, running averages.

* :class:`AGDSBCD` -- partial AUC over any range of false positive rates;
* :class:`PESG` -- the min-max margin loss of the AUC.

Both are `torch.optim.Optimizer`; a step calls the closure for the scores of a batch and does the backward pass itself.
"""

from kernbench.deep.optimisers.agd_sbcd import AGDSBCD
from kernbench.deep.optimisers.pesg import PESG

__all__ = ["AGDSBCD", "PESG"]
