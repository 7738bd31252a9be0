"""Written by tools/types/stubs: the public names of kernbench.features."""

from kernbench.features.blocks import FeatureBlocks as FeatureBlocks
from kernbench.features.blocks import feature_block as feature_block
from kernbench.features.nystroem.nystroem import Nystroem as Nystroem
from kernbench.features.random_features import RandomFeatures as RandomFeatures

__all__ = [
    "FeatureBlocks",
    "Nystroem",
    "RandomFeatures",
    "feature_block",
]
