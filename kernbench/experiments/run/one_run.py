"""One run: which cells have records, which are to be measured, and what is told meanwhile."""

from time import monotonic

from kernbench.experiments import plugins
from kernbench.experiments.run.idle import IdleMachine
from kernbench.experiments.run.progress import Event, PlannedCell, RunSummary, total_expected
from kernbench.experiments.run.schedule import Task
from kernbench.experiments.run.stored import stored, wanted_and_stored
from kernbench.experiments.run.storing.claims import Claims, Others


class Run:
    """One run: its state, its events, its records.

    Parameters
    ----------
    store : Store
    positions : dict of str to int
        Where the file of each experiment ended when its records were read.
    expectations : Expectations
    where : ThisMachine or Cluster
    limits : dict of str to tuple
        Seconds and bytes of a cell, by experiment.
    max_hours : float or None
    on_event : callable or None
    auto : AutoRepeats, optional
        Which repeats to measure; all by default.
    when_idle : bool, default=False
        Start cells only while nothing else uses the machine.
    any_machine : bool, default=False
        As of :func:`~kernbench.experiments.run.stored.stored`.
    known : list of dict
        The records that were read.
    """

    def __init__(
        self,
        store,
        positions,
        expectations,
        where,
        limits,
        max_hours,
        on_event,
        *,
        auto=None,
        when_idle=False,
        any_machine=False,
        known=(),
    ):
        self.store, self.expectations, self.where, self.limits = store, expectations, where, limits
        self._auto, self._any_machine = auto, any_machine
        self._idle = IdleMachine(lambda message: self.tell("note", message=message)) if when_idle else None
        self._claims, self._others = Claims(store.folder), Others(store, positions, known)
        self.on_event = on_event or (lambda event: None)
        self.n_done = self.n_cells = 0
        self.unfinished = {}  # place -> cell
        self._has_company = False
        self._summary = RunSummary([])
        self._start = monotonic()
        self._last_start = None if max_hours is None else self._start + 3600.0 * max_hours

    def tell(self, kind, **details):
        if "remaining" not in details:
            details["remaining"] = self._remaining()
        self.on_event(Event(kind, done=self.n_done, total=self.n_cells, **details))

    def _remaining(self):
        """Estimated seconds of the cells that are not finished; None if unknown."""
        seconds = total_expected([self.expectations.of(cell) for cell in self.unfinished.values()])
        return None if seconds is None else seconds / self.where.jobs

    def run(self, cells, gaps, good):
        """Run the cells that are not stored; `good` holds the successful records."""
        self.n_cells = len(cells)
        self.unfinished = {cell.place: cell for cell in cells}
        for gap in gaps:
            self.tell("gap", message=f"{gap.experiment}: {gap.method} is left out, because {gap.reason}")
        cells, done = wanted_and_stored(cells, self._auto, lambda some: self._stored(some, good))
        self.n_cells = len(cells)
        summary = self._summary = RunSummary(
            [PlannedCell(cell, cell.place in done, self.expectations.of(cell)) for cell in cells], gaps=gaps
        )
        to_do = [cell for cell in cells if cell.place not in done]
        self.unfinished = {cell.place: cell for cell in to_do}
        self.where.prepare(to_do, self.task)
        remaining = self._remaining()  # once, since stored cells do not change it
        self.tell("planned", remaining=remaining)
        for cell in cells:
            if cell.place in done:
                self.n_done += 1
                self.tell("skipped", cell=cell, record=done[cell.place], remaining=remaining)

        def take(task):
            is_mine, record = self._take(task)
            if record is not None:
                summary.n_shared += 1
                self.n_done += self.unfinished.pop(task.cell.place, None) is not None
                self.tell("skipped", cell=task.cell, record=record)
            return is_mine, record

        def on_finish(task, record):
            self._others.ignore(record)
            self.store.append(record)
            self._claims.release(task.key)
            self.expectations.learn(record)
            summary.records.append(record)
            self.n_done += self.unfinished.pop(task.cell.place, None) is not None
            self.tell("finished", cell=task.cell, record=record)

        def choice(cell, outcomes):
            wanted = self._auto.wants(cell, outcomes)
            if wanted is False:
                self.unfinished.pop(cell.place, None)
                self.n_cells -= 1
                self.tell("dropped", cell=cell)
            return wanted

        pace = {} if self._auto is None else {"choice": choice}
        pace |= {} if self._idle is None else {"is_busy": self._idle.is_busy}
        try:
            self.where.run(
                to_do,
                done,
                make_task=self.task,
                take=take,
                on_start=lambda task: self.tell("started", cell=task.cell),
                on_finish=on_finish,
                tell=lambda message: self.tell("note", message=message),
                may_start=lambda: self._last_start is None or monotonic() < self._last_start,
                **pace,
            )
        finally:
            self._claims.release_all()
        return self.summary

    @property
    def summary(self):
        """The summary as of now."""
        self._summary.n_left = len(self.unfinished)
        self._summary.seconds = monotonic() - self._start
        self._summary.paused_seconds = 0.0 if self._idle is None else self._idle.paused_seconds
        return self._summary

    def _take(self, task):
        """Whether this run is to measure a cell, and its record if another run has made one meanwhile."""
        is_mine = self._claims.take(task.key)
        record = self._others.record(task) if is_mine else None
        if record is not None:
            self._claims.release(task.key)
        if (record is not None or not is_mine) and not self._has_company:
            self._has_company = True
            self.tell("note", message=f"another run measures in {self.store.folder} too: the cells are shared")
        return is_mine and record is None, record

    def _stored(self, cells, good):
        machines, checksum_of = self.where.machines, lambda cell, _: self._checksum(cell)
        return stored(cells, good, machines, checksum_of, any_machine=self._any_machine)

    def _checksum(self, cell):
        """Return the checksum of the cell's data, from the first machine that has them; None if none has."""
        for machine in self.where.machines:
            data, problem = self._data(cell, machine)
            if problem is None:
                return data["checksum"]
        return None

    def _data(self, cell, machine, problem=None):
        if problem is None and not machine.is_described(cell):
            self.tell("loading", message=cell.dataset)
        return machine.data(cell, problem)

    def task(self, cell, machine, problem=None):
        """Make a cell's task on a machine; reads each data set once, for the checksum that is part of the key.

        Parameters
        ----------
        cell : Cell
        machine : Machine
        problem : str, optional
            Why the cell cannot be run.
        """
        data, problem = self._data(cell, machine, problem)
        key = machine.key(cell, data["checksum"])
        environment = machine.environment(cell)
        return Task(cell, key, data, environment, *self.limits[cell.experiment], problem, plugins.of(cell))
