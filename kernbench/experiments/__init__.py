"""Experiments: the papers' tables and figures as declared grids, run cell by cell into a store of records.

::

    base.py          the declarations: Experiment, Scale, Setting, Method, Metric, Claim, all plain data
    sbp_libsvm.py    one module per experiment …
    registry.py      … listed here

    cells.py         an experiment → cells (data set × method × repeat), their seeds and keys
    runner.py        cells → records: run(), resumable
      schedule.py      order, budgets, so many at a time
      process.py       one cell's process seen from outside: its limits and its end
      worker.py        … and from inside
      measure.py       load, fit, predict, on the clock
      evaluation.py    how a model is judged, off the clock
      progress.py      events, summary, expected time
    store.py         records, append-only
    environment.py   where a record was measured
"""

from kernbench.experiments.base import Claim, Experiment, Method, Metric, PaperNumber, Scale, Setting
from kernbench.experiments.registry import EXPERIMENTS, get, names
from kernbench.experiments.runner import run
from kernbench.experiments.store import Store

__all__ = [
    "EXPERIMENTS",
    "Claim",
    "Experiment",
    "Method",
    "Metric",
    "PaperNumber",
    "Scale",
    "Setting",
    "Store",
    "get",
    "names",
    "run",
]
