"""Explicit feature maps: phi with <phi(x), phi(z)> = k(x, z), in expectation or on a subspace.

Explicit features turn a kernel machine into a linear one, for data sets whose kernel matrix is too large.

* `RandomFeatures` are drawn at random: they are unbiased and need no data, and a block of them can be generated again
  from its seed (`feature_block`; `FeatureBlocks` to use a block more than once);
* `Nystroem` features are derived from landmarks, rows of the data: usually closer to the kernel for the same number of
  columns.
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
