"""The process of one cell, from inside: a fork of the nursery, or ``python -P -m kernbench.experiments.run.worker``.

A request is ``{"cell": …, "threads": …, "result": path, "output": path}``, as one line of JSON where it comes
by standard input. The cell is measured and its outcome written to the file of the result, in a temporary
folder of its own. The line to whoever started it stays open as long as that lives: when it goes dead, so does
the worker, and a killed run leaves no fit behind that nobody waits for.
"""

import json
import os
import select
import shutil
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path

from threadpoolctl import threadpool_limits

from kernbench._files import written_whole
from kernbench.experiments.declare.addresses import resolve
from kernbench.experiments.run.cells import Cell
from kernbench.experiments.run.memory import resident_memory

ABANDONED = 3  # exit code of a worker whose parent is gone


def end_with(lifeline, folder):
    """End this process, and remove `folder`, as soon as nobody is left at the other end of a pipe.

    Parameters
    ----------
    lifeline : int
        Its descriptor. Nothing is read from it: the pipe may be the nursery's, and carry others' requests.
    folder : Path
    """

    def watch():
        line = select.poll()
        line.register(lifeline, 0)  # that it has been hung up is told unasked
        line.poll()
        shutil.rmtree(folder, ignore_errors=True)  # nobody else will
        os._exit(ABANDONED)

    threading.Thread(target=watch, daemon=True).start()


def sentence(error):
    """Say in one line what was raised and where: the last step of the traceback, without its folders."""
    text = "".join(traceback.format_exception_only(error)).strip()
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<")
    ]
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""
    return " ".join(text.split()) + where


def outcome(cell, threads):
    """Measure `cell` with `threads` threads; whatever goes wrong is an outcome too.

    Returns
    -------
    dict
        ``status``, ``error``, what the cell's measurement returned, and ``working_memory_bytes``: its peak
        above what was resident before it began, Python and the libraries (None where the system does not
        say).
    """
    try:
        for address in (cell.loader, cell.estimator, cell.evaluate):
            with suppress(ImportError, AttributeError):  # if it is needed, the measurement will say it
                resolve(address)
        measure = resolve(cell.measure)
        with threadpool_limits(threads):
            before = resident_memory()
            found = measure(cell)
        working = None if before is None else max(0, found["peak_memory_bytes"] - before)
        return {"status": "ok", "error": None, **found, "working_memory_bytes": working}
    except MemoryError as error:
        return {"status": "memory", "error": sentence(error)}
    except Exception as error:
        return {"status": "error", "error": sentence(error)}


def serve(request):
    """Measure the cell of a request, write its outcome, and end the process."""
    result = outcome(Cell(**request["cell"]), request["threads"])
    with written_whole(Path(request["result"])) as file:
        json.dump(result, file, allow_nan=False)
    # The exit handlers of foreign libraries must not turn a finished measurement into a failure.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def main():
    """Serve one request from standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    end_with(sys.stdin.fileno(), Path(request["result"]).parent)
    serve(request)


if __name__ == "__main__":
    main()
