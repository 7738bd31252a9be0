"""The process that cells are forked from: ``python -P -m kernbench.experiments.run.nursery``.

It reads requests from its standard input, a line of JSON each, and answers ``started PID`` and ``ended PID
CODE`` on its standard output. Its input is the line to whoever started it: when it goes dead, the nursery
ends, and so do the cells.
"""

import gc
import json
import os
import select
import signal
from importlib import import_module
from pathlib import Path

from kernbench.experiments.run import worker

# What most cells need. Importing is all that is done with it here: a computation might start threads, and
# they do not live on in a fork.
PRELOADED = (
    "scipy.linalg",
    "sklearn.svm",
    "kernbench.datasets",
    "kernbench.estimators",
    "kernbench.experiments.measure.evaluation",
    "kernbench.experiments.measure.clock",
    "kernbench.features",
    "kernbench.kernels",
)


def _become_cell(request, lifeline, voice):
    """Turn this fork into the process of a cell; does not return."""
    os.setsid()  # one kill reaches all that the cell starts
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(voice, f"started {os.getpid()}\n".encode())
    os.close(voice)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    worker.end_with(lifeline, Path(request["result"]).parent)
    worker.serve(request)


def _tell_who_ended(voice):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        os.write(voice, f"ended {pid} {os.waitstatus_to_exitcode(status)}\n".encode())


def main():
    """Import, then fork on request until the line goes dead."""
    lifeline, voice, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # no cell reads another's request …
    os.dup2(nothing, 1)  # … and what a library prints while it is imported is no answer
    for name in PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy every page it looks at
    bell, rung = os.pipe()
    for end in (bell, rung):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(rung)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    unread = b""
    while True:
        ready, _, _ = select.select([lifeline, bell], [], [])
        if bell in ready:
            os.read(bell, 4096)
            _tell_who_ended(voice)
        if lifeline in ready:
            said = os.read(lifeline, 65536)
            if not said:
                os._exit(0)
            *lines, unread = (unread + said).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if os.fork() == 0:
                    try:
                        _become_cell(request, lifeline, voice)
                    finally:
                        os._exit(1)  # never back into this loop


if __name__ == "__main__":
    main()
