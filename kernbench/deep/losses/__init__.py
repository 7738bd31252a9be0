"""Losses of a batch of scores and labels, as modules: exact values, and subgradients through autograd.

* :class:`PartialAUCLoss` -- pairs of a positive and a negative in a window of false positive rates;
* :class:`PairwiseLoss` -- all pairs;
* :class:`RankedRangeLoss` -- the losses between two ranks, the largest or the smallest left out;
* :class:`AUCMarginLoss` -- the min-max margin loss of the AUC at its inner optimum.
"""

from kernbench.deep.losses.auc_margin import AUCMarginLoss
from kernbench.deep.losses.pairs import PairwiseLoss, PartialAUCLoss
from kernbench.deep.losses.ranked_range import RankedRangeLoss

__all__ = ["AUCMarginLoss", "PairwiseLoss", "PartialAUCLoss", "RankedRangeLoss"]
