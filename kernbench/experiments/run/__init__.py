"""Experiments into records: each cell in a process of its own, each record appended, each run resumable.

::

    runner.py        names → records: run()
    cells.py         an experiment → cells (data set × method × repeat), their seeds and keys
    patterns.py      … those that --only and --skip choose
    own_files.py     data files of the user's own as data sets
    schedule.py      order, budgets, number of cells at a time
    processes/       the process of a cell: its limits and its end (process), how it is started, from a fork server
                     (launching, preload), what it does (worker);  wording.py  an exception in one line
    progress.py      events, summary, expected time
    environment.py   where a record was measured
    storing/         records on the disk: the store, their form, who measures what, a packed file
"""

from kernbench._lazy import lazy_names

_ADDRESSES = {"Store": "kernbench.experiments.run.storing.store:Store", "run": "kernbench.experiments.run.runner:run"}

__all__ = sorted(_ADDRESSES)

# Imported on first use: the fork server of the cells needs neither.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES)
