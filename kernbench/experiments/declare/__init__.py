"""What an experiment is, declared as plain data.

Nothing here computes. An :class:`Experiment` says what is measured; :mod:`~kernbench.experiments.run.cells` turns
it into work, :mod:`~kernbench.experiments.run.runner` does the work, and the report reads the declaration again
to know which tables, figures and sentences the records are meant for.

::

    experiment.py    Experiment: an experiment as a whole
    parts.py         Setting, OwnFile, Scale, Method, Metric, PaperNumber, PaperData: what is measured on what
    claims.py        Claim, Bound, Passing: findings that the records confirm or refute
    entrants.py      who takes part in a race, and reasons to leave a model out
    tables.py        MetricTable, CrossTable, Recommendation: what is shown in numbers
    figures.py       Curves, Marks, HeatMap, Contours, Profiles: what is drawn
    metrics.py       metrics that several experiments share
"""

from kernbench.experiments.declare.claims import Bound, Claim, Passing
from kernbench.experiments.declare.experiment import Experiment
from kernbench.experiments.declare.figures import Axis, Contours, Curves, HeatMap, Marks, Profiles
from kernbench.experiments.declare.parts import Method, Metric, OwnFile, PaperData, PaperNumber, Scale, Setting
from kernbench.experiments.declare.tables import CrossTable, MetricTable, Quantity, Recommendation

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
    "OwnFile",
    "PaperData",
    "PaperNumber",
    "Passing",
    "Profiles",
    "Quantity",
    "Recommendation",
    "Scale",
    "Setting",
]
