"""Run experiments: each cell in its own process, each finished cell a record, each killed run resumable."""

import warnings
from numbers import Integral
from time import monotonic

from kernbench._lazy import load
from kernbench.experiments import plugins, registry
from kernbench.experiments.declare import Experiment
from kernbench.experiments.run import environment, launching
from kernbench.experiments.run.cells import cell_key, plan
from kernbench.experiments.run.own_files import with_own_files
from kernbench.experiments.run.progress import Event, Expectations, PlannedCell, RunSummary, total_expected
from kernbench.experiments.run.schedule import Scheduler, Task
from kernbench.experiments.run.store import Store


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
    dry_run=False,
    on_event=None,
):
    """Run experiments and append one record per finished cell.

    A cell is skipped if a record of the same measurement (cell, data, code, processor, threads, BLAS) with status
    ``"ok"`` is stored: a second call runs what is missing and what failed.

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
        repeats=repeats, jobs=jobs, threads=threads, time_limit=time_limit, memory_limit=memory_limit
    )
    cells, gaps = plan(
        experiments, scale, repeats=repeats, datasets=datasets, methods=methods, only=only, skip=skip
    )
    if not cells and not gaps:
        raise ValueError("nothing to run: no experiment chosen has these data sets and methods")
    with_cells = {cell.experiment for cell in cells}
    experiments = [experiment for experiment in experiments if experiment.name in with_cells]
    threads = {
        experiment.name: _threads(jobs, threads or experiment.threads, force) for experiment in experiments
    }
    store = Store(results)
    records, notes = _read(store, experiments)
    good = [record for record in records if record["status"] == "ok"]
    if not dry_run:
        for experiment in experiments:
            store.check_writable(experiment.name)
        if not {cell.place for cell in cells} <= {_place(record) for record in good}:
            launching.prepare()  # early, since it takes as long as the rest of the preparation
    machine = environment.collect()
    machines = {name: {**machine, **_timed_with(jobs, count)} for name, count in threads.items()}
    expectations = Expectations(records)
    if dry_run:
        _warn(notes, on_event)
        planned = [
            PlannedCell(cell, _is_stored(cell, good, machines), expectations.of(cell)) for cell in cells
        ]
        return RunSummary(planned, gaps=gaps, dry_run=True)

    limits = {}
    for experiment in experiments:
        declared = experiment.scale(scale)
        limits[experiment.name] = (time_limit or declared.time_limit, memory_limit or declared.memory_limit)
    _warn(notes, on_event)
    current = _Run(store, expectations, jobs, machines, limits, on_event)
    try:
        return current.run(cells, gaps, good)
    except KeyboardInterrupt:
        message = (
            f"interrupted after {current.n_done} of {len(cells)} cells; their records are in {store.folder}, "
            "and the same command again does the rest"
        )
        current.tell("interrupted", message=message)
        raise KeyboardInterrupt(message) from None


def _experiments(names):
    names = [names] if isinstance(names, (str, Experiment)) else list(names)
    if not names:
        raise ValueError(f"name at least one experiment: {', '.join(registry.names())}")
    found = [name if isinstance(name, Experiment) else registry.get(name) for name in names]
    return list({experiment.name: experiment for experiment in found}.values())


def _refuse_nonsense(*, time_limit, **counts):
    # Not by `validation`, which imports NumPy: the first cell would start later.
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    for name, count in counts.items():
        if count is not None and (not isinstance(count, Integral) or isinstance(count, bool) or count < 1):
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def _threads(jobs, threads, force):
    """Threads per cell; ValueError for more threads in total than cores, since times would be meaningless."""
    cores = environment.n_cores()
    if threads is None:
        threads = max(1, cores // jobs)
    if jobs * threads > cores and not force:
        raise ValueError(
            f"{jobs} jobs × {threads} threads need more than the {cores} cores here, and times would "
            f"mean nothing; use at most {max(1, cores // threads)} jobs of {min(threads, cores)} threads, or --force"
        )
    return threads


def _timed_with(jobs, threads):
    """What a run adds to the environment of its records."""
    cores = environment.n_cores()
    found = {"n_threads": threads}
    if jobs * threads > cores:
        found["overcommitted"] = f"{jobs} jobs × {threads} threads on {cores} cores"
    return found


def _read(store, experiments):
    """The stored records of some experiments, and the faults of their files."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = [record for experiment in experiments for record in store.records(experiment.name)]
    return records, [str(warning.message) for warning in caught]


def _warn(notes, on_event):
    """Report faults of the stored records: by events if `on_event` is given, else by warnings."""
    for note in notes:
        if on_event is None:
            warnings.warn(note, stacklevel=3)
        else:
            on_event(Event("note", message=note))


def with_plugin(machine, cell):
    """Return an environment that names the plug-in whose code a cell runs."""
    plugin = plugins.of(cell)
    return machine if plugin is None else {**machine, "plugin": str(plugin)}


def _place(record):
    """The `place` of the cell that a record is of."""
    return tuple(record[name] for name in ("experiment", "scale", "dataset", "method", "repeat"))


def _is_stored(cell, records, machines):
    """Whether one of the successful `records` is of `cell`, the data being those of the record."""
    machine = with_plugin(machines[cell.experiment], cell)
    return any(
        _place(record) == cell.place
        and record["key"] == cell_key(cell, record["data"].get("checksum"), machine)
        for record in records
    )


class _Run:
    """One run: its state, its events, its records."""

    def __init__(self, store, expectations, jobs, machines, limits, on_event):
        self.store, self.expectations, self.jobs = store, expectations, jobs
        self.machines, self.limits = machines, limits
        self.on_event = on_event or (lambda event: None)
        self.n_done = self.n_cells = 0
        self.unfinished = {}  # place -> cell
        self._described = {}

    def tell(self, kind, **details):
        expected = [self.expectations.of(cell) for cell in self.unfinished.values()]
        remaining = total_expected(expected)
        if remaining is not None:
            remaining /= self.jobs
        self.on_event(Event(kind, done=self.n_done, total=self.n_cells, remaining=remaining, **details))

    def run(self, cells, gaps, good):
        """Run the cells that are not stored; `good` holds the successful records."""
        start = monotonic()
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
        if self.jobs > 1:  # no data set may be read while a cell is timed
            for cell in to_do:
                self.task(cell)
        self.tell("planned")
        for cell in cells:
            if cell.place in done:
                self.n_done += 1
                self.tell("skipped", cell=cell, record=done[cell.place])

        def on_finish(task, record):
            self.store.append(record)
            self.expectations.learn(record)
            summary.records.append(record)
            self.n_done += 1
            del self.unfinished[task.cell.place]
            self.tell("finished", cell=task.cell, record=record)

        Scheduler(
            to_do,
            done,
            jobs=self.jobs,
            make_task=self.task,
            on_start=lambda task: self.tell("started", cell=task.cell),
            on_finish=on_finish,
        ).run()
        summary.seconds = monotonic() - start
        return summary

    def _stored(self, cells, good):
        """The records of the cells that need no run, by `place`."""
        by_key = {record["key"]: record for record in good}
        places = {_place(record) for record in good}
        keys = {cell.place: self.task(cell).key for cell in cells if cell.place in places}
        return {place: by_key[key] for place, key in keys.items() if key in by_key}

    def task(self, cell):
        """Make a cell's task; reads each data set once, for the checksum that is part of the key."""
        where = (cell.loader, str(cell.arguments))
        if where not in self._described:
            self.tell("loading", message=cell.dataset)
            self._described[where] = _description(cell)
        data, problem = self._described[where]
        machine = with_plugin(self.machines[cell.experiment], cell)
        key = cell_key(cell, data["checksum"], machine)
        return Task(cell, key, data, machine, *self.limits[cell.experiment], problem, plugins.of(cell))


def _description(cell):
    """The ``data`` of the cell's record and, for data that cannot be loaded, the reason."""
    try:
        from kernbench.experiments.measure.record import describe

        return describe(load(cell.loader)(**cell.arguments)), None
    except Exception as error:  # a missing data set is a result of its cells, not the end of the run
        return {"name": cell.dataset, "checksum": None}, f"{type(error).__name__}: {error}"
