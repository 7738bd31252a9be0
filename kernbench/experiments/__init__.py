"""Experiments: the papers' tables and figures as declared grids, run cell by cell into a store of records.

::

    declare/       what an experiment is: Experiment, Scale, Setting, Method, Metric, Claim, displays; plain data
    measure/       how a method is measured, inside the process of a cell
    papers/        the papers' experiments: rocsvm/ scs/ pauc/ sbp/ dsg/
    ours/          and ours, each in a folder
    registry.py    … listed here
    run/           cells, their processes, their records; ``run()``
    plugins.py     solvers and experiments of the user's own, in one file
    checking.py    ``kernbench check``

An experiment imports `declare`, `measure` and its own package, no other experiment. To add one: a module that declares
``EXPERIMENT``, and its line in `registry`. Declarations refer to code as ``"module:function"`` and do not import it.
"""

from kernbench._lazy import lazy_names
from kernbench.experiments import declare
from kernbench.experiments.declare import *  # noqa: F403

_ADDRESSES = {name: f"kernbench.experiments.registry:{name}" for name in ("EXPERIMENTS", "get", "names")}

__all__ = [*_ADDRESSES, *declare.__all__]

# Imported on first use: the process of a cell needs no other declaration than its own.
__getattr__, __dir__ = lazy_names(__name__, _ADDRESSES)
