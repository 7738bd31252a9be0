"""The process of one cell: ``python -P -m kernbench.experiments.worker``.

It reads one line of JSON, ``{"cell": …, "threads": …, "result": path}``, from its standard input, measures
the cell, and writes the outcome to `path`, in a temporary folder of its own. Its input stays open as long as
whoever started it lives: when the line goes dead, so does the worker, and a killed run leaves no fit behind
that nobody waits for.
"""

import json
import os
import shutil
import sys
import threading
import traceback
from pathlib import Path

from threadpoolctl import threadpool_limits

from kernbench._files import written_whole
from kernbench.experiments.base.addresses import resolve
from kernbench.experiments.cells import Cell

ABANDONED = 3  # exit code of a worker whose parent is gone


def _die_with_parent(descriptor, folder):
    while os.read(descriptor, 1):
        pass
    shutil.rmtree(folder, ignore_errors=True)  # nobody else will
    os._exit(ABANDONED)


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
        ``status``, ``error``, and what the cell's measurement returned.
    """
    try:
        with threadpool_limits(threads):
            return {"status": "ok", "error": None, **resolve(cell.measure)(cell)}
    except MemoryError as error:
        return {"status": "memory", "error": sentence(error)}
    except Exception as error:
        return {"status": "error", "error": sentence(error)}


def main():
    """Serve one request from standard input."""
    request = json.loads(sys.stdin.buffer.readline())
    path = Path(request["result"])
    threading.Thread(target=_die_with_parent, args=(sys.stdin.fileno(), path.parent), daemon=True).start()
    result = outcome(Cell(**request["cell"]), request["threads"])
    with written_whole(path) as file:
        json.dump(result, file, allow_nan=False)
    # The exit handlers of foreign libraries must not turn a finished measurement into a failure.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
