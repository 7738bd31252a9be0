"""Displays of fitted models, drawn with matplotlib: the ``...Display`` classes of scikit-learn for what is ours.

* `TraceDisplay` -- the course of fits: objective, certified gap or validation score against time or kernel values;
* `PartialROCDisplay` -- a ROC curve with its window, its threshold and its band of confidence;
* `SearchDisplay` -- cross-validated scores over C and gamma, with bands and the cell chosen;
* `PathDisplay` -- coefficients or scores along C or alpha.

A display holds the numbers that it draws: ``from_estimator`` and its siblings compute and draw them, and ``plot`` draws
them again. matplotlib is imported by the first drawing.
"""

from kernbench.plot.partial_roc import PartialROCDisplay
from kernbench.plot.path import PathDisplay
from kernbench.plot.search import SearchDisplay
from kernbench.plot.trace import TraceDisplay

__all__ = ["PartialROCDisplay", "PathDisplay", "SearchDisplay", "TraceDisplay"]
