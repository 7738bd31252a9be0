"""The process of one cell: measure, write the outcome, end."""

import json
import multiprocessing
import os
import shutil
import sys
import threading
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path

from threadpoolctl import threadpool_limits

from kernbench._files import written_whole
from kernbench._lazy import load
from kernbench.experiments.run.processes.wording import sentence

ABANDONED = 3  # exit code of a cell whose parent has ended
RESULT, OUTPUT = "result.json", "output.txt"  # files of a cell: its outcome, and what it prints


def main(request, environment):
    """Measure a cell and write its outcome; does not return.

    Parameters
    ----------
    request : dict
        ``cell`` (a Cell), ``threads``, ``plugin`` (the one it needs, or None), and ``folder``, the cell's own, below
        that of the run.
    environment : dict
        Environment variables.
    """
    os.setsid()  # one kill reaches all children of the cell, and Ctrl-C does not reach it
    os.environ.clear()
    os.environ.update(environment)
    folder = Path(request["folder"])
    try:
        output = os.open(folder / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError:
        os._exit(ABANDONED)  # the run was stopped while the fork server was still importing
    for stream in (1, 2):
        os.dup2(output, stream)
    _end_with_the_run(folder.parent)
    process = os.getpid()
    found = outcome(request["cell"], request["threads"], request["plugin"])
    if os.getpid() != process:
        os._exit(ABANDONED)  # a copy of this process, made by what is measured
    with written_whole(folder / RESULT) as file:
        json.dump(found, file, allow_nan=False)
    # Without the exit handlers of other libraries, which could turn a finished measurement into a failure.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_with_the_run(folder):
    """End this process, and remove the run's temporary files, as soon as the parent process has ended."""

    def watch():
        connection.wait([multiprocessing.parent_process().sentinel])
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(ABANDONED)

    threading.Thread(target=watch, daemon=True).start()


def outcome(cell, threads, plugin=None):
    """Measure `cell` with `threads` threads; an error is an outcome too.

    Returns
    -------
    dict
        ``status``, ``error``, the result of the cell's measurement, and ``working_memory_bytes``: its peak above the
        memory resident before it began, which is that of Python and the libraries.
    """
    from kernbench.experiments.measure.memory import resident_memory

    try:
        if plugin is not None:
            from kernbench.experiments.plugins import load_again

            load_again(plugin)
        for address in (cell.loader, cell.estimator, cell.evaluate):
            with suppress(ImportError, AttributeError):  # a measurement that needs it will raise it again
                load(address)
        measure = load(cell.measure)
        with threadpool_limits(threads):
            before = resident_memory()
            found = measure(cell)
        working = None if before is None else max(0, found["peak_memory_bytes"] - before)
        return {"status": "ok", "error": None, **found, "working_memory_bytes": working}
    except MemoryError as error:
        return {"status": "memory", "error": sentence(error)}
    except Exception as error:
        return {"status": "error", "error": sentence(error)}
