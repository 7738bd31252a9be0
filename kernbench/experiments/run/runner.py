"""Run experiments: each cell in its own process, each finished cell a record, each killed run resumable."""

import warnings
from contextlib import contextmanager
from numbers import Integral
from time import monotonic

from kernbench.experiments import plugins, registry
from kernbench.experiments.declare import Experiment
from kernbench.experiments.run.cells import plan
from kernbench.experiments.run.machine import ThisMachine
from kernbench.experiments.run.own_files import with_own_files
from kernbench.experiments.run.processes import launching
from kernbench.experiments.run.progress import Event, Expectations, PlannedCell, RunSummary, total_expected
from kernbench.experiments.run.schedule import Task
from kernbench.experiments.run.storing.claims import Claims, Others
from kernbench.experiments.run.storing.store import Store, skipped_lines


def run(
    names,
    *,
    scale="quick",
    results="results",
    repeats=None,
    jobs=1,
    threads=None,
    datasets=None,
    methods=None,
    only=None,
    skip=None,
    time_limit=None,
    memory_limit=None,
    force=False,
    max_hours=None,
    scheduler=None,
    dry_run=False,
    on_event=None,
):
    """Run experiments and append one record per finished cell.

    A cell is skipped if a record of the same measurement (cell, data, code, processor, threads, BLAS) with status
    ``"ok"`` is stored: a second call runs what is missing and what failed. Runs that share a results folder share the
    cells: none is measured by two of them at the same time, or again by the second.

    Parameters
    ----------
    names : str, Experiment, or list of them
        Registered names, or experiments of your own.
    scale : {"quick", "paper"}, default="quick"
    results : str or Path, default="results"
        Folder of the records.
    repeats : int, optional
        Overrides the scale's number.
    jobs : int, default=1
        Cells at a time.
    threads : int, optional
        Threads per cell. By default as declared by the experiment, else the cores divided by `jobs`.
    datasets, methods : list of str, optional
        Only these. A data set may be a file, for experiments that take its data. Data sets marked optional run only
        when named here; a method whose budget depends on another adds that one.
    only, skip : list of str, optional
        Patterns over ``experiment/dataset/method``, as of the shell: ``"peers-svm/*/smo"``. What depends on a skipped
        cell is skipped too.
    time_limit : float, optional
        Seconds per cell; overrides the scale's.
    memory_limit : int, optional
        Bytes per cell; overrides the scale's.
    force : bool, default=False
        Run with more jobs × threads than cores; the environment of every record says so.
    max_hours : float, optional
        Start no cell after this time; the same call continues where this one ends.
    scheduler : str, optional
        Address of a Dask scheduler: its workers run the cells, one at a time each, all methods of a repeat on a data
        set on one worker. A cell is stored if any of them has measured it with this code and data.
    dry_run : bool, default=False
        List the cells; load, run and write nothing. Data are assumed to be those of the stored records.
    on_event : callable, optional
        Called with an :class:`~kernbench.experiments.run.progress.Event` whenever something happens.

    Returns
    -------
    RunSummary

    Raises
    ------
    ValueError
        For unknown names (with the nearest), invalid numbers, more jobs × threads than cores, or a results folder that
        cannot be written.
    KeyboardInterrupt
        After Ctrl-C: running cells are ended, finished records are kept, and the message says how to continue.
    """
    experiments, datasets = with_own_files(_experiments(names), datasets)
    _refuse_nonsense(
        repeats=repeats,
        jobs=jobs,
        threads=threads,
        time_limit=time_limit,
        max_hours=max_hours,
        memory_limit=memory_limit,
    )
    cells, gaps = plan(experiments, scale, repeats=repeats, datasets=datasets, methods=methods, only=only, skip=skip)
    if not cells and not gaps:
        raise ValueError("nothing to run: no experiment chosen has these data sets and methods")
    with_cells = {cell.experiment for cell in cells}
    experiments = [experiment for experiment in experiments if experiment.name in with_cells]
    declared = {experiment.name: threads or experiment.threads for experiment in experiments}
    store = Store(results)
    with _where(scheduler, declared, jobs, force) as place:
        positions = {experiment.name: store.since(experiment.name, None)[1] for experiment in experiments}
        records, notes = _read(store, experiments)
        good = [record for record in records if record["status"] == "ok"]
        expectations = Expectations(records)
        if dry_run:
            _warn(notes, on_event)
            planned = [
                PlannedCell(cell, _is_stored(cell, good, place.machines), expectations.of(cell)) for cell in cells
            ]
            return RunSummary(planned, gaps=gaps, dry_run=True)
        for experiment in experiments:
            store.check_writable(experiment.name)
        if scheduler is None and not {cell.place for cell in cells} <= {_place(record) for record in good}:
            launching.prepare()  # early, since it takes as long as the rest of the preparation
        limits = {}
        for experiment in experiments:
            of_scale = experiment.scale(scale)
            limits[experiment.name] = (time_limit or of_scale.time_limit, memory_limit or of_scale.memory_limit)
        _warn(notes, on_event)
        current = _Run(store, positions, expectations, place, limits, max_hours, on_event)
        try:
            return current.run(cells, gaps, good)
        except KeyboardInterrupt:
            message = (
                f"interrupted after {current.n_done} of {len(cells)} cells; their records are in {store.folder}, "
                "and the same command again does the rest"
            )
            current.tell("interrupted", message=message)
            raise KeyboardInterrupt(message) from None


@contextmanager
def _where(scheduler, declared, jobs, force):
    """What runs the cells: this machine, or a cluster."""
    if scheduler is None:
        yield ThisMachine(declared, jobs, force)
        return
    if jobs != 1:
        raise ValueError("jobs are for this machine; on a cluster each worker runs a cell at a time")
    # Imported here, since Dask is optional.
    from kernbench.experiments.run.cluster.client import Cluster
    from kernbench.experiments.run.cluster.workers import connected

    with connected(scheduler) as client:
        yield Cluster(client, declared, force)


def _experiments(names):
    names = [names] if isinstance(names, (str, Experiment)) else list(names)
    if not names:
        raise ValueError(f"name at least one experiment: {', '.join(registry.names())}")
    found = [name if isinstance(name, Experiment) else registry.get(name) for name in names]
    return list({experiment.name: experiment for experiment in found}.values())


def _refuse_nonsense(*, time_limit, max_hours, **counts):
    # Not by `validation`, which imports NumPy: the first cell would start later.
    for name, unit, time in (("time_limit", "seconds", time_limit), ("max_hours", "hours", max_hours)):
        if time is not None and not time > 0:
            raise ValueError(f"{name} must be a positive number of {unit}, got {time!r}")
    for name, count in counts.items():
        if count is not None and (not isinstance(count, Integral) or isinstance(count, bool) or count < 1):
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def _read(store, experiments):
    """The stored records of some experiments, and the faults of their files."""
    with skipped_lines() as notes:
        records = [record for experiment in experiments for record in store.records(experiment.name)]
    return records, notes


def _warn(notes, on_event):
    """Report faults of the stored records: by events if `on_event` is given, else by warnings."""
    for note in notes:
        if on_event is None:
            warnings.warn(note, stacklevel=3)
        else:
            on_event(Event("note", message=note))


def _place(record):
    """The `place` of the cell that a record is of."""
    return tuple(record[name] for name in ("experiment", "scale", "dataset", "method", "repeat"))


def _is_stored(cell, records, machines):
    """Whether one of the successful `records` is of `cell`, the data being those of the record."""
    return any(
        record["key"] == machine.key(cell, record["data"].get("checksum"))
        for record in records
        if _place(record) == cell.place
        for machine in machines
    )


class _Run:
    """One run: its state, its events, its records."""

    def __init__(self, store, positions, expectations, where, limits, max_hours, on_event):
        self.store, self.expectations, self.where, self.limits = store, expectations, where, limits
        self._claims, self._others = Claims(store.folder), Others(store, positions)
        self.on_event = on_event or (lambda event: None)
        self.n_done = self.n_cells = 0
        self.unfinished = {}  # place -> cell
        self._has_company = False
        self._start = monotonic()
        self._last_start = None if max_hours is None else self._start + 3600.0 * max_hours

    def tell(self, kind, **details):
        expected = [self.expectations.of(cell) for cell in self.unfinished.values()]
        remaining = total_expected(expected)
        if remaining is not None:
            remaining /= self.where.jobs
        self.on_event(Event(kind, done=self.n_done, total=self.n_cells, remaining=remaining, **details))

    def run(self, cells, gaps, good):
        """Run the cells that are not stored; `good` holds the successful records."""
        self.n_cells = len(cells)
        self.unfinished = {cell.place: cell for cell in cells}
        for gap in gaps:
            self.tell("gap", message=f"{gap.experiment}: {gap.method} is left out, because {gap.reason}")
        done = self._stored(cells, good)
        summary = RunSummary(
            [PlannedCell(cell, cell.place in done, self.expectations.of(cell)) for cell in cells], gaps=gaps
        )
        to_do = [cell for cell in cells if cell.place not in done]
        self.unfinished = {cell.place: cell for cell in to_do}
        self.where.prepare(to_do, self.task)
        self.tell("planned")
        for cell in cells:
            if cell.place in done:
                self.n_done += 1
                self.tell("skipped", cell=cell, record=done[cell.place])

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
            )
        finally:
            self._claims.release_all()
        summary.n_left = len(self.unfinished)
        summary.seconds = monotonic() - self._start
        return summary

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
        """The records of the cells that need no run, by `place`."""
        by_key = {record["key"]: record for record in good}
        places = {_place(record) for record in good}
        found = {}
        for cell in cells:
            if cell.place in places:
                checksum = self._checksum(cell)
                keys = (machine.key(cell, checksum) for machine in self.where.machines)
                record = next((by_key[key] for key in keys if key in by_key), None)
                if record is not None:
                    found[cell.place] = record
        return found

    def _checksum(self, cell):
        """Of the cell's data, on the first machine that has them."""
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
