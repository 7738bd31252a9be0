"""Experiments into records: each cell in a process of its own, each record appended, each run resumable.

::

    runner.py        names → records: run()
    one_run.py       … its state: what is stored, what is measured, what is told
    snapshot.py      everything at paper scale on an idle machine, with a manifest: snapshot()
    outdated.py      records of it that cells of now would not make
    cells.py         an experiment → cells (data set × method × repeat), their seeds and keys
    patterns.py      … those that --only and --skip choose
    own_files.py     data files of the user's own as data sets
    schedule.py      order, budgets, number of cells at a time
    stored.py        which cells have a record already
    repeats.py       how often, where the time of a cell decides;  idle.py  wait for other programs
    processes/       the process of a cell: its limits and its end (process), how it is started, from a fork server
                     (launching, preload), what it does (worker);  wording.py  an exception in one line
    cluster/         cells on the workers of a Dask cluster
    progress.py      events, summary, expected time
    environment.py   where a record was measured;  code.py  by which code: the digests in it
    storing/         records on the disk: the store, their form, who measures what, a packed file, a snapshot's manifest
"""

from kernbench._lazy import lazy_names

_ADDRESSES = {"Store": "kernbench.experiments.run.storing.store:Store", "run": "kernbench.experiments.run.runner:run"}

__all__ = sorted(_ADDRESSES)

# Imported on first use: the fork server of the cells needs neither.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES)
