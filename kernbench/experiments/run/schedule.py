"""Cells in order, several at a time, each after the one on which its budget depends."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import sleep

from kernbench._names import printable
from kernbench.experiments.run.cells import Cell
from kernbench.experiments.run.processes.process import CellProcess
from kernbench.experiments.run.storing.schema import VERSION, fault

NUMBERS = ("peak_memory_bytes", "working_memory_bytes", "n_kernel_evaluations")
POLL_SECONDS = 0.05  # between two polls of the running cells, which take 0.1 ms


@dataclass(frozen=True)
class Task:
    """A cell to be run, with everything that its record contains besides the outcome.

    Attributes
    ----------
    cell : Cell
    key : str
    data, environment : dict
        Data and environment of the record.
    time_limit : float or None
    memory_limit : int or None
    problem : str or None
        Why the cell cannot be run (its data are not available): it becomes a record without a process.
    plugin : Plugin or None
        The plug-in that the cell needs.
    """

    cell: Cell
    key: str
    data: dict
    environment: dict
    time_limit: float | None = None
    memory_limit: int | None = None
    problem: str | None = None
    plugin: object = None

    def record(self, outcome, cell, started):
        """The record of this task's `outcome`; `cell` is the cell as it ran, budget included.

        Of an outcome that no record can hold, as a measurement of the user's own may be, it is that of a failure.
        """
        found = self._record(outcome, cell, started, outcome.get("data", self.data))
        problem = fault(found)
        if problem is None:
            return found
        failed = {"status": "error", "error": f"no record can hold what it measured: {problem}"}
        return self._record(failed, cell, started, {"name": cell.dataset, "checksum": None})

    def _record(self, outcome, cell, started, data):
        identity = ("experiment", "scale", "dataset", "method", "repeat", "seed", "estimator", "params")
        return {
            "schema": VERSION,
            "key": self.key,
            **{name: getattr(cell, name) for name in identity},
            "status": outcome["status"],
            "error": None if outcome["error"] is None else printable(" ".join(str(outcome["error"]).split())),
            **{name: outcome.get(name, {}) for name in ("metrics", "seconds", "trace")},
            **{name: outcome.get(name) for name in NUMBERS},
            "limits": {"seconds": self.time_limit, "bytes": self.memory_limit},
            "data": data,
            "environment": self.environment,
            "started": started,
        }


class Unrunnable(Exception):
    """A cell that cannot be started; the message is its record's error."""


def with_budget(cell, outcomes):
    """Return `cell` with its time budget among its params, once the cell it depends on has a record.

    Parameters
    ----------
    cell : Cell
    outcomes : dict of tuple to dict
        Records by the `place` of their cell.

    Raises
    ------
    Unrunnable
        If that record holds no time.
    """
    if cell.budget is None:
        return cell
    before = outcomes[cell.needs]
    seconds = before["seconds"].get("fit") if before["status"] == "ok" else None
    if seconds is None:
        raise Unrunnable(
            f"its budget is a part of the fit time of {cell.budget['of']!r}, which has none "
            f"(status {before['status']!r})"
        )
    seconds *= cell.budget["fraction"]
    return replace(cell, params={**cell.params, cell.budget["param"]: seconds})


class Scheduler:
    """Runs tasks, and leaves no process of a cell behind, however it ends.

    Parameters
    ----------
    cells : list of Cell
        Each after the one it depends on.
    outcomes : dict of tuple to dict
        Records of stored cells by `place`; those of the cells that are run are added, None for those not wanted.
    jobs : int
        Processes at a time.
    make_task : callable
        ``make_task(cell) -> Task``, called before the cell is started.
    take : callable
        ``take(task) -> (bool, record or None)``: whether this run is to measure the cell, and its record if another run
        has made one; neither, while another one measures it.
    on_start : callable
        ``on_start(task)``.
    on_finish : callable
        ``on_finish(task, record)``, in the order in which they end.
    may_start : callable
        ``may_start() -> bool``: once False, the cells that run are the last.
    choice : callable, optional
        ``choice(cell, outcomes) -> bool or None``: whether to measure a cell; None while that is not known.
    is_busy : callable, optional
        ``is_busy() -> bool``: whether others use the machine, so that the next cell has to wait. Asked only while no
        cell runs.
    """

    def __init__(
        self, cells, outcomes, *, jobs, make_task, take, on_start, on_finish, may_start, choice=None, is_busy=None
    ):
        self._waiting = list(cells)
        self._outcomes = outcomes
        self._jobs, self._make_task, self._take = jobs, make_task, take
        self._on_start, self._on_finish, self._may_start = on_start, on_finish, may_start
        self._choice, self._is_busy = choice, is_busy
        self._running = []  # (task, process, started)

    def run(self):
        """Run all cells."""
        try:
            while self._waiting or self._running:
                if self._may_start():
                    if self._running or self._is_busy is None or not self._is_busy():
                        self._start_what_can_start()
                elif not self._running:
                    return
                if not self._collect_what_ended():
                    sleep(POLL_SECONDS)
        finally:
            for _, process, _ in self._running:
                process.stop()

    def _start_what_can_start(self):
        for cell in list(self._waiting):
            if len(self._running) >= self._jobs:
                return
            wanted = self._choice is None or self._choice(cell, self._outcomes)
            if wanted is False:
                self._waiting.remove(cell)
                self._outcomes[cell.place] = None
            elif wanted and (cell.needs is None or cell.needs in self._outcomes):
                task = self._make_task(cell)
                is_mine, record = self._take(task)
                if is_mine or record is not None:
                    self._waiting.remove(cell)
                if is_mine:
                    self._start(task)
                elif record is not None:
                    self._outcomes[cell.place] = record

    def _start(self, task):
        self._on_start(task)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            if task.problem is not None:
                raise Unrunnable(task.problem)
            cell = with_budget(task.cell, self._outcomes)
        except Unrunnable as reason:
            self._finish(task, task.record({"status": "error", "error": str(reason)}, task.cell, started))
            return
        process = CellProcess(
            cell,
            threads=task.environment["n_threads"],
            time_limit=task.time_limit,
            memory_limit=task.memory_limit,
            plugin=task.plugin,
        )
        self._running.append((task, process, started))

    def _collect_what_ended(self):
        """Finish the cells that have ended; return whether there were any."""
        ended = False
        for entry in list(self._running):
            task, process, started = entry
            outcome = process.poll()
            if outcome is not None:
                ended = True
                self._running.remove(entry)
                self._finish(task, task.record(outcome, process.cell, started))
        return ended

    def _finish(self, task, record):
        self._outcomes[task.cell.place] = record
        self._on_finish(task, record)
