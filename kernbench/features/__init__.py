"""Explicit feature maps: phi with <phi(x), phi(z)> = k(x, z), in expectation or on a subspace.

Explicit features turn a kernel machine into a linear one, for data sets whose kernel matrix is too large.

* `RandomFeatures` draws them at random: unbiased, they need no data, and a block of them can be regenerated from its
  seed alone (`feature_block`; `FeatureBlocks` to use a block more than once);
* `Nystroem` derives them from landmarks, rows of the data: usually closer to the kernel with as many columns.
"""

from kernbench._lazy import lazy_names
from kernbench._models import TRANSFORMERS

_ADDRESSES = {
    **{model.name: model.address for model in TRANSFORMERS},
    "FeatureBlocks": "kernbench.features.blocks:FeatureBlocks",
    "feature_block": "kernbench.features.blocks:feature_block",
}

__all__ = sorted(_ADDRESSES)

# Imported on first use: a model file of one transformer need not import the other.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES)
