"""Run experiments: each cell in its own process, each finished cell a record, each killed run resumable."""

from numbers import Integral
from time import monotonic

from kernbench.experiments import registry
from kernbench.experiments.declare import Experiment, resolve
from kernbench.experiments.measure.clock import describe
from kernbench.experiments.run import environment
from kernbench.experiments.run.cells import cell_key, plan
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
    time_limit=None,
    memory_limit=None,
    dry_run=False,
    on_event=None,
):
    """Run experiments and append one record per finished cell.

    A cell is skipped when a record of the very same measurement (cell, data, code, processor, threads, BLAS)
    with status ``"ok"`` is stored: to run again is to do what is missing and to try again what failed.

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
        Threads per cell. By default what the experiment declares, else the cores divided by `jobs`.
    datasets, methods : list of str, optional
        Only these. Data sets marked optional run only when named here; a method whose budget depends on
        another brings that one along.
    time_limit : float, optional
        Seconds per cell; overrides the scale's.
    memory_limit : int, optional
        Bytes per cell; overrides the scale's.
    dry_run : bool, default=False
        List the cells; load, run and write nothing. Data are taken to be those of the stored records.
    on_event : callable, optional
        Called with an :class:`~kernbench.experiments.run.progress.Event` whenever something happens.

    Returns
    -------
    RunSummary

    Raises
    ------
    ValueError
        For unknown names (with the nearest), impossible numbers, more jobs × threads than cores, or a results
        folder that cannot be written.
    KeyboardInterrupt
        After Ctrl-C: running cells are ended, finished records stay, and the message says how to go on.
    """
    experiments = _experiments(names)
    _refuse_nonsense(
        repeats=repeats, jobs=jobs, threads=threads, time_limit=time_limit, memory_limit=memory_limit
    )
    cells, gaps = plan(experiments, scale, repeats=repeats, datasets=datasets, methods=methods)
    if not cells and not gaps:
        raise ValueError("nothing to run: no experiment chosen has these data sets and methods")
    # One description of the machine per experiment: they may differ in their threads.
    machines = {
        experiment.name: environment.collect(_threads(jobs, threads or experiment.threads))
        for experiment in experiments
    }
    store = Store(results)
    records = [record for experiment in experiments for record in store.records(experiment.name)]
    expectations = Expectations(records)
    good = [record for record in records if record["status"] == "ok"]
    if dry_run:
        planned = [
            PlannedCell(cell, _is_stored(cell, good, machines), expectations.of(cell)) for cell in cells
        ]
        return RunSummary(planned, gaps=gaps, dry_run=True)

    for experiment in experiments:
        store.check_writable(experiment.name)
    limits = {}
    for experiment in experiments:
        declared = experiment.scale(scale)
        limits[experiment.name] = (time_limit or declared.time_limit, memory_limit or declared.memory_limit)
    current = _Run(store, expectations, jobs, on_event)
    try:
        return current.run(cells, gaps, {record["key"]: record for record in good}, machines, limits)
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
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    for name, count in counts.items():
        if count is not None and not (isinstance(count, Integral) and count > 0):
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def _threads(jobs, threads):
    """Threads per cell; refuses what the cores cannot carry, since its timings would be worthless."""
    cores = environment.n_cores()
    if threads is None:
        threads = max(1, cores // jobs)
    if jobs * threads > cores:
        raise ValueError(
            f"{jobs} jobs × {threads} threads need more than the {cores} cores here, and timings would be "
            f"worthless; use at most {max(1, cores // threads)} jobs of {min(threads, cores)} threads"
        )
    return threads


def _is_stored(cell, records, machines):
    """Whether one of the successful `records` is of `cell`; the record vouches for the data it is about."""
    machine = machines[cell.experiment]
    return any(
        record["key"] == cell_key(cell, record["data"].get("checksum"), machine)
        for record in records
        if tuple(record[name] for name in ("experiment", "scale", "dataset", "method", "repeat"))
        == cell.place
    )


class _Run:
    """One run: what is done, what is told, what is written."""

    def __init__(self, store, expectations, jobs, on_event):
        self.store, self.expectations, self.jobs = store, expectations, jobs
        self.on_event = on_event or (lambda event: None)
        self.n_done = self.n_cells = 0
        self.unfinished = {}  # place -> cell

    def tell(self, kind, **details):
        expected = [self.expectations.of(cell) for cell in self.unfinished.values()]
        remaining = total_expected(expected)
        if remaining is not None:
            remaining /= self.jobs
        self.on_event(Event(kind, done=self.n_done, total=self.n_cells, remaining=remaining, **details))

    def run(self, cells, gaps, stored, machines, limits):
        """Do what is not stored; `stored` holds the successful records by key."""
        start = monotonic()
        self.n_cells = len(cells)
        self.unfinished = {cell.place: cell for cell in cells}
        for gap in gaps:
            self.tell("gap", message=f"{gap.experiment}: {gap.method} is left out, because {gap.reason}")
        tasks = list(self._tasks(cells, machines, limits))
        done = {task.cell.place: stored[task.key] for task in tasks if task.key in stored}
        summary = RunSummary(
            [PlannedCell(task.cell, task.key in stored, self.expectations.of(task.cell)) for task in tasks],
            gaps=gaps,
        )
        for place in done:
            del self.unfinished[place]
        self.tell("planned")
        for planned in summary.planned:
            if planned.stored:
                self.n_done += 1
                self.tell("skipped", cell=planned.cell, record=done[planned.cell.place])

        def on_start(task):
            self.tell("started", cell=task.cell)

        def on_finish(task, record):
            self.store.append(record)
            self.expectations.learn(record)
            summary.records.append(record)
            self.n_done += 1
            del self.unfinished[task.cell.place]
            self.tell("finished", cell=task.cell, record=record)

        to_do = [task for task in tasks if task.key not in stored]
        Scheduler(to_do, done, jobs=self.jobs, on_start=on_start, on_finish=on_finish).run()
        summary.seconds = monotonic() - start
        return summary

    def _tasks(self, cells, machines, limits):
        """Turn cells into tasks; reads each data set once, for the checksum that is part of a cell's key."""
        described = {}
        for cell in cells:
            where = (cell.loader, str(cell.arguments))
            if where not in described:
                self.tell("loading", message=cell.dataset)
                described[where] = _description(cell)
            data, problem = described[where]
            machine = machines[cell.experiment]
            time_limit, memory_limit = limits[cell.experiment]
            key = cell_key(cell, data["checksum"], machine)
            yield Task(cell, key, data, machine, time_limit, memory_limit, problem)


def _description(cell):
    """The ``data`` of the cell's record and, for data that cannot be had, the reason."""
    try:
        return describe(resolve(cell.loader)(**cell.arguments)), None
    except (
        Exception
    ) as error:  # a data set that is not there is a result of its cells, not the end of the run
        return {"name": cell.dataset, "checksum": None}, f"{type(error).__name__}: {error}"
