"""The parent's side of a cell: start its process, watch its time and memory, report how it ended."""

import json
import os
import signal
import tempfile
from pathlib import Path
from time import monotonic

from kernbench.experiments.measure.memory import resident_memory
from kernbench.experiments.run.processes import launching, worker


def _out_of_memory_kills():
    """How often the system has killed a process for lack of memory, or None if unknown."""
    try:
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def _megabytes(n_bytes):
    return f"{n_bytes / 2**20:,.0f} MB"


class CellProcess:
    """One cell in a process of its own.

    Parameters
    ----------
    cell : Cell
    threads : int
    time_limit : float or None
        Seconds from the start of the process.
    memory_limit : int or None
        Bytes resident, watched while it runs and checked against the peak at the end.
    plugin : Plugin or None
        The plug-in that it needs.
    """

    def __init__(self, cell, *, threads, time_limit=None, memory_limit=None, plugin=None):
        self.cell = cell
        self.time_limit, self.memory_limit = time_limit, memory_limit
        self._folder = tempfile.TemporaryDirectory(dir=launching.temporary_folder(), prefix="cell-")
        self._result, self._output = (Path(self._folder.name, name) for name in (worker.RESULT, worker.OUTPUT))
        self._kills_before = _out_of_memory_kills()
        request = {"cell": cell, "threads": threads, "plugin": plugin, "folder": self._folder.name}
        self._process = launching.start(worker.main, request, threads)
        self._start = monotonic()

    @property
    def seconds(self):
        """Time since the process was started."""
        return monotonic() - self._start

    def poll(self):
        """Return the outcome once the cell has ended, normally or by a limit; None while it runs.

        Returns
        -------
        dict or None
            ``status``, ``error``, and for an ``"ok"`` the result of the cell's measurement;
            ``seconds["total"]`` is the life time of the process.
        """
        code = self._process.exitcode
        total = self.seconds
        if code is not None:
            result = self._ended_by_itself(code)
        elif self.time_limit is not None and total > self.time_limit:
            result = {"status": "timeout", "error": f"took longer than its limit of {self.time_limit:g} s"}
        elif self._is_over_memory():
            limit = _megabytes(self.memory_limit)
            result = {"status": "memory", "error": f"used more memory than its limit of {limit}"}
        else:
            return None
        self.stop()
        if isinstance(result.setdefault("seconds", {}), dict):  # else no record can hold it, which its scheduler says
            result["seconds"]["total"] = total
        return result

    def stop(self):
        """Kill the process and its children, and clean up. Harmless if it has ended."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()  # no group yet; PermissionError: on macOS, a group of zombies
        self._process.join()
        self._folder.cleanup()

    def _is_over_memory(self):
        if self.memory_limit is None:
            return False
        resident = resident_memory(self._process.pid)
        return resident is not None and resident > self.memory_limit

    def _ended_by_itself(self, code):
        if code == 0 and self._result.exists():
            result = json.loads(self._result.read_text(encoding="utf-8"))
            peak = result.get("peak_memory_bytes")
            if self.memory_limit is not None and peak is not None and peak > self.memory_limit:
                result["status"] = "memory"
                result["error"] = f"peak of {_megabytes(peak)} is over its limit of {_megabytes(self.memory_limit)}"
            return result
        if code < 0:
            words = f"killed by signal {signal.Signals(-code).name}"
            if -code == signal.SIGKILL and _out_of_memory_kills() != self._kills_before:
                return {"status": "memory", "error": f"{words}: the system ran out of memory"}
        else:
            words = f"ended with exit code {code} and no result"
        return {"status": "error", "error": words + self._last_words()}

    def _last_words(self):
        """The end of the process's output, for an end without an exception."""
        if not self._output.exists():
            return ""
        text = " ".join(self._output.read_text(encoding="utf-8", errors="replace")[-500:].split())
        return f"; its last words: {text}" if text else ""
