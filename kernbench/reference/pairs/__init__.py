"""Arithmetic over pairs in plain NumPy: losses of pairs and of ranges, areas under the ROC curve.

The classes have the names that :mod:`kernbench.pairs` has for their compiled twins.
"""

from kernbench.reference.pairs.pairs import AllPairs, DrawnPairs
from kernbench.reference.pairs.ranked_range import RankedRange
from kernbench.reference.pairs.structural import StructuralBound
from kernbench.reference.pairs.window import WindowPairs

__all__ = ["AllPairs", "DrawnPairs", "RankedRange", "StructuralBound", "WindowPairs"]
