"""Experiments: the papers' tables and figures as declared grids, run cell by cell into a store of records.

::

    base/            the declarations: Experiment, Scale, Setting, Method, Metric, Claim, figures: plain data
    sbp/             one package per paper, or question …
    svm_peers/
    primitives/
    rocsvm/
    registry.py      … listed here

    cells.py         an experiment → cells (data set × method × repeat), their seeds and keys
    runner.py        cells → records: run(), resumable
      schedule.py      order, budgets, so many at a time
      process.py       one cell's process seen from outside: its limits and its end
      launching.py     … how it is started: forked from the nursery.py, or afresh
      worker.py        … and from inside
      memory.py        … and what memory it took
      measure.py       load, fit, predict, on the clock: the race, and what any measurement hands back
      evaluation.py    how a model is judged, off the clock
      progress.py      events, summary, expected time
    store.py         records, append-only
    environment.py   where a record was measured
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
    PaperNumber,
    Profiles,
    Quantity,
    Recommendation,
    Scale,
    Setting,
)
from kernbench.experiments.registry import EXPERIMENTS, get, names
from kernbench.experiments.run.runner import run
from kernbench.experiments.run.store import Store

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
    "PaperNumber",
    "Profiles",
    "Quantity",
    "Recommendation",
    "Scale",
    "Setting",
    "Store",
    "get",
    "names",
    "run",
]
