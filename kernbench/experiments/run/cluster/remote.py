"""What runs in a Dask worker: it hands requests to the host beside it, and waits."""

import atexit
import os
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Lock

_HOST = None
_LOCK = Lock()  # a worker of several threads runs one cell at a time, too


class Host:
    """The process beside this worker that runs cells."""

    def __init__(self):
        ours, theirs = socket.socketpair()
        # -P, so that a working directory with sources that are not compiled does not hide the installed package.
        command = [sys.executable, "-P", "-m", "kernbench.experiments.run.cluster.host", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._connection = Connection(ours.detach())

    def is_alive(self):
        """Whether it can answer."""
        return self._process.poll() is None

    def ask(self, *request):
        """Return the answer; RuntimeError if the host ended instead."""
        try:
            self._connection.send(request)
            return self._connection.recv()
        except (EOFError, OSError):
            code = self._process.wait()
            raise RuntimeError(f"the process that runs cells ended with exit code {code}") from None

    def stop(self):
        """Kill it; the cell that it runs ends with it."""
        self._process.kill()


def ask(*request):
    """Ask the host of this worker, started by the first request."""
    global _HOST
    with _LOCK:
        if _HOST is None or not _HOST.is_alive():
            _HOST = Host()
            atexit.register(_HOST.stop)
        return _HOST.ask(*request)


def stop():
    """End the cell that runs on this worker, if any."""
    if _HOST is not None:
        with suppress(OSError):
            _HOST.stop()


def describe():
    """The environment of this worker, with the libraries to compare with and the name of its machine."""
    from kernbench.experiments.run import environment

    peers = environment.peers()
    return {**environment.collect(), "peers": peers, "host": socket.gethostname(), "pid": os.getpid()}


def digest(names):
    """The digest of the experiments' code that objects of these names run, as this worker has it."""
    from kernbench.experiments.run.code import experiment_digest

    return experiment_digest(names)
