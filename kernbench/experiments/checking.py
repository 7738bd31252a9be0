"""Check a plug-in: the laws of solvers, its own tests and its experiments, each in a process of its own.

A check is a cell, so that one which never ends, forks or takes all memory is ended like a cell, and the others
continue.
"""

import inspect
import sys
import traceback
from dataclasses import dataclass
from time import sleep

from kernbench._lazy import load
from kernbench.experiments import plugins, registry
from kernbench.experiments.measure.memory import peak_memory
from kernbench.experiments.run.cells import Cell, plan
from kernbench.experiments.run.processes import launching
from kernbench.experiments.run.processes.process import CellProcess
from kernbench.experiments.run.schedule import POLL_SECONDS

HERE = "kernbench.experiments.checking"
TIME_LIMIT = 120.0  # seconds of a check
MEMORY_LIMIT = 4 * 2**30  # bytes of a check
LONGEST = 400  # characters of a message


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check.

    Attributes
    ----------
    about : str
        The solver or the experiment, or the file for its own tests.
    check : str
    passed : bool
    message : str
        What is wrong; empty for a check that passed.
    seconds : float
    """

    about: str
    check: str
    passed: bool
    message: str
    seconds: float


def check_plugin(plugin, *, time_limit=TIME_LIMIT, on_outcome=None):
    """Run all checks of a plug-in, one after another.

    Parameters
    ----------
    plugin : kernbench.experiments.plugins.Plugin
    time_limit : float
        Seconds of each check.
    on_outcome : callable, optional
        Called with each :class:`Outcome`.

    Returns
    -------
    list of Outcome
    """
    launching.prepare()
    outcomes = []
    for about, check, cell in checks_of(plugin):
        found = _run(cell, plugin, time_limit)
        message = _message(found, cell)
        outcome = Outcome(about, check, not message, message, found["seconds"]["total"])
        outcomes.append(outcome)
        if on_outcome is not None:
            on_outcome(outcome)
    return outcomes


def checks_of(plugin):
    """Yield (about, check, cell) of all checks of a plug-in.

    Raises
    ------
    ValueError
        For a solver of a kind that has no checks.
    """
    from kernbench.solvers.checks import FORMS, LAWS

    for entry in plugin.solvers:
        if entry.problem not in FORMS:
            raise ValueError(f"solvers of {entry.problem} cannot be checked yet; those of {', '.join(FORMS)} can")
        for law in LAWS:
            params = {"law": law, "name": entry.name, "problem": entry.problem}
            yield entry.name, law, _cell(f"{HERE}:measure_law", params)
    for name, function in vars(sys.modules[plugin.module]).items():
        if name.startswith("test_") and callable(function) and not inspect.signature(function).parameters:
            params = {"address": f"{plugin.module}:{name}"}
            yield plugin.path.rpartition("/")[2], name, _cell(f"{HERE}:measure_test", params)
    for name in plugin.experiments:
        cells, _ = plan([registry.get(name)], "quick", repeats=1)
        for cell in cells:
            if cell.needs is None:  # a budget takes two cells; the other one is checked
                yield name, f"{cell.dataset} / {cell.method}", cell


def measure_law(cell):
    """Run one law on one solver; the cell's `params` are ``law``, ``name`` and ``problem``.

    The entry ``broken`` of the result says in which way the law is broken; it is empty where the law holds. The place
    in the code of the law, which the message of an exception would end with, is of no use to whoever wrote the solver.
    """
    from kernbench.solvers import registry as solvers
    from kernbench.solvers.checks import LAWS

    entry, broken = solvers.get(cell.params["name"], cell.params["problem"]), ""
    try:
        LAWS[cell.params["law"]](entry)
    except AssertionError as error:
        if any(frame.filename == plugins.file_of(entry) for frame in traceback.extract_tb(error.__traceback__)):
            raise  # an assertion of the solver's own, whose place matters
        broken = " ".join(str(error).split()) or "an assertion failed"
    return {"broken": broken, "peak_memory_bytes": peak_memory()}


def measure_test(cell):
    """Run a test function of the plug-in, the cell's parameter ``address``."""
    load(cell.params["address"])()
    return {"peak_memory_bytes": peak_memory()}


def _cell(measure, params):
    return Cell(
        experiment="check",
        scale="quick",
        dataset="",
        method="",
        repeat=0,
        seed=0,
        loader=measure,
        arguments={},
        estimator=measure,
        params=params,
        evaluate=measure,
        measure=measure,
    )


def _run(cell, plugin, time_limit):
    """Run a cell to its end and return its outcome."""
    process = CellProcess(cell, threads=1, time_limit=time_limit, memory_limit=MEMORY_LIMIT, plugin=plugin)
    try:
        while (found := process.poll()) is None:
            sleep(POLL_SECONDS)
    finally:
        process.stop()
    return found


def _message(found, cell):
    """What is wrong with the outcome of a check, in one line; empty if nothing is."""
    text = str(found["error"]).removeprefix("AssertionError: ") if found["status"] != "ok" else found.get("broken", "")
    if text or cell.experiment == "check":
        return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    experiment = registry.get(cell.experiment)
    if experiment.headline(found)[0] is None:
        names = ", ".join(metric.name for metric in experiment.metrics)
        return f"it measured none of the declared metrics: {names}"
    return ""
