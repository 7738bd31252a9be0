"""How the process of a cell comes into being: forked from one that has its libraries loaded, or started afresh.

Most of what a fresh interpreter does for a small cell is to import scikit-learn and SciPy (1.6 s, where a
fork takes 10 ms). So on Linux a run keeps one *nursery* for each number of threads: a process that imports
what cells need, computes nothing, and forks itself for each cell. Because it never computes, no thread pool
exists that a fork could tear apart; what a cell alone needs, the cell imports. Elsewhere each cell gets an
interpreter of its own.

Either way a cell is a process, and a group, of its own: what it does to itself, nobody else sees.
"""

import json
import os
import select
import subprocess
import sys

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
CAN_FORK = sys.platform == "linux"  # on macOS system libraries do not survive a fork
LOST = 255  # exit code of a cell whose nursery died before it could tell


def _environment(threads):
    """This process's environment with threads pinned and the import path handed on.

    Threads are pinned by variables because libraries read them when they are loaded, before any call could.
    """
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    return {**os.environ, "PYTHONPATH": path, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


class FreshInterpreter:
    """A cell in an interpreter started for it.

    Parameters
    ----------
    request : dict
        As :mod:`~kernbench.experiments.run.worker` takes it; ``"output"`` is the file for what the cell prints.
    """

    def __init__(self, request):
        with open(request["output"], "wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "kernbench.experiments.run.worker"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(request["threads"]),
                start_new_session=True,  # Ctrl-C reaches the parent only, and one kill reaches all it started
            )
        self.pid = self._process.pid
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it died at once: poll() says how

    def poll(self):
        """The exit code, negative for a signal, or None while it runs."""
        return self._process.poll()

    def forget(self):
        """Let go of a process that has been killed or has ended."""
        self._process.wait()
        try:
            self._process.stdin.close()
        except OSError:
            pass  # the request never reached it


class Fork:
    """A cell in a fork of a nursery, by its `pid`; the nursery tells its exit code."""

    def __init__(self, nursery, pid):
        self._nursery, self.pid = nursery, pid

    def poll(self):
        """The exit code, negative for a signal, or None while it runs."""
        return self._nursery.exit_code(self.pid)

    def forget(self):
        """Let go of a process that has been killed or has ended."""
        self._nursery.forget(self.pid)


class Nursery:
    """The parent's end of ``python -P -m kernbench.experiments.run.nursery``.

    Parameters
    ----------
    threads : int
    """

    def __init__(self, threads):
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kernbench.experiments.run.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(threads),
            start_new_session=True,
        )
        self._codes = {}  # pid -> exit code, None while it runs
        self._unread = b""
        self.is_lost = False

    def start(self, request):
        """Fork a cell; return its :class:`Fork`, or None when the nursery has died."""
        known = set(self._codes)
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            self.is_lost = True
        while not self.is_lost and self._codes.keys() <= known:
            self._listen(None)
        born = self._codes.keys() - known
        return Fork(self, born.pop()) if born else None

    def exit_code(self, pid):
        """The exit code of a cell, or None while it runs."""
        self._listen(0)
        return LOST if self.is_lost and self._codes[pid] is None else self._codes[pid]

    def forget(self, pid):
        """Wait for the end of a cell that has been killed or has ended, and drop it."""
        while self._codes[pid] is None and not self.is_lost:
            self._listen(None)
        del self._codes[pid]

    def close(self):
        """End the nursery, and with it what still runs: a cell whose line goes dead ends itself."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                pipe.close()
            except OSError:
                pass  # a request that did not reach it

    def _listen(self, timeout):
        """Take in what the nursery has said: lines ``started PID`` and ``ended PID CODE``."""
        pipe = self._process.stdout
        while not self.is_lost and select.select([pipe], [], [], timeout)[0]:
            said = os.read(pipe.fileno(), 65536)
            self.is_lost = not said
            *lines, self._unread = (self._unread + said).split(b"\n")
            for line in lines:
                word, pid, *code = line.split()
                self._codes[int(pid)] = int(code[0]) if word == b"ended" else None
            timeout = 0


class Launcher:
    """Starts cells; keeps a nursery for each number of threads where the system can fork safely."""

    def __init__(self):
        self._nurseries = {}

    def start(self, request):
        """Start a cell.

        Parameters
        ----------
        request : dict

        Returns
        -------
        Fork or FreshInterpreter
        """
        if not CAN_FORK:
            return FreshInterpreter(request)
        threads = request["threads"]
        nursery = self._nurseries.get(threads)
        if nursery is None or nursery.is_lost:
            nursery = self._nurseries[threads] = Nursery(threads)
        return nursery.start(request) or FreshInterpreter(request)

    def close(self):
        """End the nurseries."""
        for nursery in self._nurseries.values():
            nursery.close()
        self._nurseries.clear()
