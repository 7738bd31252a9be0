"""Ranking losses and optimisers for networks: any range of false positive rates, and ranked ranges, in PyTorch.

* :mod:`~kernbench.deep.losses` -- losses of a batch of scores and labels, after ``checks`` of these;
* :mod:`~kernbench.deep.optimisers` -- AGD-SBCD for the partial AUC of all data, PESG for the AUC margin;
* :mod:`~kernbench.deep.batches` -- batches of positives and negatives that know which examples they hold;
* :mod:`~kernbench.deep.trainer` -- `DeepPartialAUCClassifier`, all of this in one line;
* :mod:`~kernbench.deep.networks` -- LeNet, ResNet-20, a perceptron, a linear module.

This package needs PyTorch. Nothing else in kernbench imports it, except the experiments
``pauc-deep`` and ``dsg-multiclass``.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(f'kernbench.deep needs PyTorch: pip install "kernbench[torch]" ({error})') from error

from kernbench.deep.batches import IndexedDataset, PairBatchSampler
from kernbench.deep.losses import AUCMarginLoss, PairwiseLoss, PartialAUCLoss, RankedRangeLoss
from kernbench.deep.networks import MLP, LeNet, Linear, ResNet20
from kernbench.deep.optimisers import AGDSBCD, PESG
from kernbench.deep.trainer import DeepPartialAUCClassifier

__all__ = [
    "AGDSBCD",
    "AUCMarginLoss",
    "DeepPartialAUCClassifier",
    "IndexedDataset",
    "LeNet",
    "Linear",
    "MLP",
    "PESG",
    "PairBatchSampler",
    "PairwiseLoss",
    "PartialAUCLoss",
    "RankedRangeLoss",
    "ResNet20",
]
