"""Experiments: the papers' tables and figures as declared grids, run cell by cell into a store of records.

::

    declare/       what an experiment is: Experiment, Scale, Setting, Method, Metric, Claim, displays; plain data
    measure/       how a method is measured, inside the process of a cell
    papers/        the papers' experiments: sbp/ rocsvm/ scs/
    ours/          and ours: svm_peers/ auc_peers/ primitives/
    registry.py    … listed here
    run/           cells, their processes, their records; ``run()``
    plugins.py     solvers and experiments of the user's own, in one file
    checking.py    ``kernbench check``

An experiment imports `declare`, `measure` and its own package, no other experiment. To add one: a module that
declares ``EXPERIMENT``, and its line in `registry`. Declarations name whatever computes as ``"module:function"``
and import nothing that does.
"""

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Claim,
    Contours,
    CrossTable,
    Curves,
    Experiment,
    HeatMap,
    Marks,
    Method,
    Metric,
    MetricTable,
    OwnFile,
    PaperNumber,
    Profiles,
    Quantity,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.registry import EXPERIMENTS, get, names

__all__ = [
    "EXPERIMENTS",
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
    "PaperNumber",
    "Profiles",
    "Quantity",
    "Recommendation",
    "Scale",
    "Setting",
    "get",
    "names",
]
