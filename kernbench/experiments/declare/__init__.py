"""What an experiment is, declared as plain data.

Nothing here computes. An :class:`Experiment` says what is measured; :mod:`~kernbench.experiments.run.cells` turns
it into work, :mod:`~kernbench.experiments.run.runner` does the work, and the report reads the declaration again
to know which tables, figures and sentences the records are meant for.

::

    experiment.py    Experiment: the whole of it
    parts.py         Setting, Scale, Method, Metric, PaperNumber: what is measured on what
    claims.py        Claim, Bound: what the records are to confirm or refute
    displays.py      Curves, Marks, HeatMap, Contours, Profiles, MetricTable, CrossTable: what is shown
    metrics.py       metrics that several experiments share
"""

from kernbench.experiments.declare.claims import Bound, Claim
from kernbench.experiments.declare.displays import (
    Axis,
    Contours,
    CrossTable,
    Curves,
    HeatMap,
    Marks,
    MetricTable,
    Profiles,
)
from kernbench.experiments.declare.experiment import Experiment
from kernbench.experiments.declare.parts import Method, Metric, PaperNumber, Scale, Setting

__all__ = [
    "Axis",
    "Bound",
    "Claim",
    "Contours",
    "CrossTable",
    "Curves",
    "Experiment",
    "HeatMap",
    "Marks",
    "Method",
    "Metric",
    "MetricTable",
    "PaperNumber",
    "Profiles",
    "Scale",
    "Setting",
]
