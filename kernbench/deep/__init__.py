"""Ranking losses and optimisers for networks: any range of false positive rates, and ranked ranges, in PyTorch.

* :mod:`~kernbench.deep.losses` -- losses of a batch of scores and labels;
* :mod:`~kernbench.deep.optimisers` -- AGD-SBCD for the partial AUC of all data, PESG for the AUC margin;
* :mod:`~kernbench.deep.batches` -- batches of positives and negatives that know which examples they hold.

This package needs PyTorch, and nothing else in kernbench imports it.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(f'kernbench.deep needs PyTorch: pip install "kernbench[torch]" ({error})') from error

from kernbench.deep.batches import IndexedDataset, PairBatchSampler
from kernbench.deep.losses import AUCMarginLoss, PairwiseLoss, PartialAUCLoss, RankedRangeLoss
from kernbench.deep.optimisers import AGDSBCD, PESG

__all__ = [
    "AGDSBCD",
    "AUCMarginLoss",
    "IndexedDataset",
    "PESG",
    "PairBatchSampler",
    "PairwiseLoss",
    "PartialAUCLoss",
    "RankedRangeLoss",
]
