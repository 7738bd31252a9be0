"""The side of a cluster that plans: which worker runs what, and what to do when one is lost."""

from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic, sleep

from kernbench.experiments.run.cluster.workers import Lost, Presence, Worker
from kernbench.experiments.run.schedule import POLL_SECONDS, Unrunnable, with_budget

SECONDS_WITHOUT_WORKERS = 60.0  # before the run gives up: a worker that is started again takes some seconds
LOSSES = 2  # workers that a cell may cost


class Cluster:
    """The workers of a Dask cluster, as what runs cells.

    Parameters
    ----------
    client : distributed.Client
    declared : dict of str to (int or None)
        Threads of a cell, by experiment; None for those of the worker.
    force : bool
        Run cells with more threads than a worker has.

    Raises
    ------
    ValueError
        If a worker has no kernbench, another version, or too few threads.
    """

    def __init__(self, client, declared, force):
        self._client, self._declared, self._force = client, declared, force
        self._presence = Presence(client)
        self.workers = {}
        for address in sorted(self._presence.threads()):
            with suppress(Lost):
                self.join(address)

    @property
    def jobs(self):
        """Cells at a time: one on each worker."""
        return max(1, len(self.workers))

    @property
    def machines(self):
        """The machines of the workers."""
        return [worker.machine for worker in self.workers.values()]

    def present(self):
        """Addresses of the workers that there are."""
        return list(self._presence.threads())

    def join(self, address):
        """Take a worker in."""
        self.workers[address] = Worker(self._client, self._presence, address, self._declared, self._force)

    def prepare(self, cells, make_task):
        """Do nothing: a worker cannot load data for the next cell while it runs one."""

    def run(self, cells, outcomes, **callbacks):
        """Run all cells; see `_ClusterRun`."""
        _ClusterRun(self, cells, outcomes, **callbacks).run()


@dataclass
class _Group:
    """The cells of a repeat on a data set: one worker runs them all, so that their times can be compared."""

    cells: deque
    measured: list = field(default_factory=list)
    machine: str | None = None  # the key of its first cell on the machine that measured these
    refused: dict = field(default_factory=dict)  # address of a worker without the data -> the reason


@dataclass
class _Running:
    group: _Group
    task: object
    cell: object
    started: str
    answer: object


class _ClusterRun:
    """One run of cells, one at a time on each worker.

    Parameters
    ----------
    cluster : Cluster
        Workers that join later are taken in.
    cells, outcomes, make_task, take, on_start, on_finish, may_start
        As in :class:`~kernbench.experiments.run.schedule.Scheduler`.
    tell : callable
        ``tell(message)``, for what happens to workers.
    """

    def __init__(self, cluster, cells, outcomes, *, make_task, take, on_start, on_finish, tell, may_start):
        self._cluster, self._workers = cluster, cluster.workers
        self._outcomes, self._make_task, self._take = outcomes, make_task, take
        self._on_start, self._on_finish, self._tell, self._may_start = on_start, on_finish, tell, may_start
        groups = {}
        for cell in cells:
            place = (cell.experiment, cell.scale, cell.dataset, cell.repeat)
            groups.setdefault(place, _Group(deque())).cells.append(cell)
        self._waiting = deque(groups.values())
        self._busy = {}  # address -> _Running
        self._losses = {}  # place of a cell -> workers it has cost
        self._unusable = set()  # addresses of workers that cannot run cells
        self._alone_since = None

    def run(self):
        """Run all cells; raise ValueError if all workers are lost."""
        while self._waiting or self._busy:
            self._look_for_workers()
            if self._may_start():
                for address in [a for a in self._workers if a not in self._busy]:
                    self._start_a_group(address)
            elif not self._busy:
                return
            if not self._collect():
                sleep(POLL_SECONDS)

    def _look_for_workers(self):
        present = self._cluster.present()
        for address in [a for a in self._workers if a not in present and a not in self._busy]:
            del self._workers[address]
        for address in present:
            if address not in self._workers and address not in self._unusable:
                try:
                    self._cluster.join(address)
                except Lost:
                    pass
                except ValueError as error:  # those that are here continue
                    self._unusable.add(address)
                    self._tell(str(error))
        if self._workers:
            self._alone_since = None
            return
        self._alone_since = self._alone_since or monotonic()
        if monotonic() - self._alone_since > SECONDS_WITHOUT_WORKERS:
            raise ValueError(
                "the cluster has no workers left; finished records are stored. Start workers, and give the same "
                "command again"
            )

    def _start_a_group(self, address):
        """Give an idle worker the next group whose data it has, or that no worker has the data of."""
        for group in self._waiting:
            if address not in group.refused or not set(self._workers) - set(group.refused):
                self._waiting.remove(group)
                self._start(address, group)
                return

    def _start(self, address, group):
        """Start the next cell of `group` that can be started; put it back if the data are not on this worker."""
        while group.cells:
            machine = self._workers[address].machine
            try:
                task = self._make_task(group.cells[0], machine)
            except Lost:
                self._lose(address, group, machine)
                return
            if task.problem is not None:
                group.refused[address] = task.problem
                if set(self._workers) - set(group.refused):
                    self._tell(f"worker {address} lacks data of {task.cell.experiment}: {task.problem}")
                    self._waiting.append(group)
                    return
            if self._is_another_machine(group, task.cell, machine):
                continue  # its first cell is another one now
            is_mine, record = self._take(task)
            if not is_mine and record is None:
                self._waiting.append(group)
                return
            cell = group.cells.popleft()
            if record is not None:
                self._outcomes[cell.place] = record
                group.measured.append(cell)
                continue
            self._on_start(task)
            try:
                if task.problem is not None:
                    raise Unrunnable(task.problem)
                with_its_budget = with_budget(cell, self._outcomes)
            except Unrunnable as reason:
                self._fail(task, str(reason))
                continue
            answer = self._workers[address].measure(task, with_its_budget)
            self._busy[address] = _Running(group, task, with_its_budget, _now(), answer)
            return

    def _is_another_machine(self, group, cell, machine):
        """Whether the group has moved to another kind of machine: all its cells are then measured again there."""
        key = machine.key((group.measured or [cell])[0], None)
        moved = group.machine is not None and group.machine != key
        group.machine = key
        if moved and group.measured:
            group.cells.extendleft(reversed(group.measured))
            group.measured.clear()
            return True
        return False

    def _collect(self):
        """Finish the cells that have ended and start the next of their groups; return whether there were any."""
        ended = [address for address, running in self._busy.items() if running.answer.done()]
        for address in ended:
            running = self._busy.pop(address)
            group = running.group
            try:
                outcome = running.answer.result()
            except Lost:
                group.cells.appendleft(running.task.cell)
                self._lose(address, group, self._workers[address].machine)
                continue
            except Exception as error:
                outcome = {"status": "error", "error": f"{type(error).__name__}: {error}"}
            group.measured.append(running.task.cell)
            self._finish(running.task, running.task.record(outcome, running.cell, running.started))
            if self._may_start():
                self._start(address, group)
            elif group.cells:
                self._waiting.appendleft(group)
        return bool(ended)

    def _lose(self, address, group, machine):
        """A worker has gone: another takes its group, without the cell if that seems to be what ends them."""
        self._workers.pop(address, None)
        cell = group.cells[0]
        self._losses[cell.place] = self._losses.get(cell.place, 0) + 1
        if self._losses[cell.place] < LOSSES:
            self._tell(f"worker {address} is lost; another one continues with its cells")
        else:
            group.cells.popleft()
            task = self._make_task(cell, machine, f"{LOSSES} workers ended while it ran")
            self._on_start(task)
            self._fail(task, task.problem)
        if group.cells:
            self._waiting.appendleft(group)

    def _fail(self, task, reason):
        self._finish(task, task.record({"status": "error", "error": reason}, task.cell, _now()))

    def _finish(self, task, record):
        self._outcomes[task.cell.place] = record
        self._on_finish(task, record)


def _now():
    return datetime.now(UTC).isoformat(timespec="seconds")
