"""The process beside a Dask worker that runs cells: ``python -m kernbench.experiments.run.cluster.host SOCKET``.

It ends, with the cell that it runs, when the connection to its worker is closed: a worker that is killed leaves nothing
behind.
"""

import sys
from multiprocessing.connection import Connection, wait

from kernbench.experiments import plugins
from kernbench.experiments.run.machine import description
from kernbench.experiments.run.processes import launching, worker
from kernbench.experiments.run.processes.process import CellProcess
from kernbench.experiments.run.processes.wording import sentence
from kernbench.experiments.run.schedule import POLL_SECONDS


def main(connection):
    """Answer requests, one after the other, until the connection is closed."""
    launching.prepare()
    while True:
        try:
            kind, *request = connection.recv()
        except EOFError:
            return
        connection.send(_described(*request) if kind == "describe" else _measured(connection, *request))


def _described(cell, plugin):
    """The description of the cell's data, which the plug-in may load."""
    try:
        if plugin is not None:
            plugins.load_again(plugin)
    except Exception as error:
        return {"name": cell.dataset, "checksum": None}, sentence(error)
    return description(cell)


def _measured(connection, cell, plugin, limits):
    """The outcome of a cell; SystemExit once the worker has gone."""
    try:
        if plugin is not None:
            plugins.load_again(plugin)
        process = CellProcess(cell, plugin=plugin, **limits)
    except Exception as error:
        return {"status": "error", "error": sentence(error)}
    try:
        while (outcome := process.poll()) is None:
            if wait([connection], POLL_SECONDS):  # there is one request at a time: this is the end of the worker
                raise SystemExit(worker.ABANDONED)
        return outcome
    finally:
        process.stop()


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
