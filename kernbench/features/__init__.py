"""Explicit feature maps: phi with <phi(x), phi(z)> = k(x, z), in expectation or on a subspace.

Explicit features turn a kernel machine into a linear one, for data sets whose kernel matrix is too large.

* `RandomFeatures` draws them at random: unbiased, they need no data, and a block of them comes back from its
  seed alone (`feature_block`; `FeatureBlocks` to use a block more than once);
* `Nystroem` takes them from landmarks, rows of the data: with as many columns usually closer to the kernel.
"""

from importlib import import_module

_HOMES = {
    "FeatureBlocks": "kernbench.features.blocks",
    "Nystroem": "kernbench.features.nystroem.nystroem",
    "RandomFeatures": "kernbench.features.random_features",
    "feature_block": "kernbench.features.blocks",
}

__all__ = ["FeatureBlocks", "Nystroem", "RandomFeatures", "feature_block"]


def __getattr__(name):
    # Loaded on first use: a model file of one need not import the other.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
