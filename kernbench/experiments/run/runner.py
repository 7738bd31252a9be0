"""Run experiments: each cell in its own process, each finished cell a record, each killed run resumable."""

import warnings
from contextlib import contextmanager
from math import isfinite
from numbers import Integral, Real

from kernbench.experiments import registry
from kernbench.experiments.declare import Experiment
from kernbench.experiments.run.cells import plan
from kernbench.experiments.run.machine import ThisMachine
from kernbench.experiments.run.one_run import Run
from kernbench.experiments.run.own_files import with_own_files
from kernbench.experiments.run.processes import launching
from kernbench.experiments.run.progress import Event, Expectations, Interrupted, PlannedCell, RunSummary
from kernbench.experiments.run.repeats import AUTO, AutoRepeats
from kernbench.experiments.run.stored import checksum_in_key, place_of, stored, wanted_and_stored
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
    optional=False,
    earlier=None,
    time_limit=None,
    memory_limit=None,
    force=False,
    max_hours=None,
    scheduler=None,
    when_idle=False,
    retry=True,
    any_machine=False,
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
    repeats : int or "auto", optional
        Overrides the scale's number. "auto": ten repeats of cells whose first one took less than ten seconds and five
        of those below a minute, or as many as declared if that is more; three of those below ten minutes; one of longer
        ones and of those that fail.
    jobs : int, default=1
        Cells at a time.
    threads : int, optional
        Threads per cell. By default as declared by the experiment, else the cores divided by `jobs`.
    datasets, methods : list of str, optional
        Only these. A data set may be a file, for experiments that take its data. Data sets marked optional run only
        when named here, or with `optional`; a method whose budget depends on another adds that one.
    only, skip : list of str, optional
        Patterns over ``experiment/dataset/method``, as of the shell: ``"peers-svm/*/smo"``. What depends on a skipped
        cell is skipped too.
    optional : bool, default=False
        Also data sets marked optional, which take hours or files placed by hand, after everything else.
    earlier : iterable of dict, optional
        Records of earlier runs, of any code: within each repeat, data sets whose fits took less come before others. By
        default they come as declared.
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
    when_idle : bool, default=False
        Start no cell while other programs use the processor; with one job only.
    retry : bool, default=True
        Run cells again that ran out of time or memory before, within the same limits, and those that failed because
        their budget is a part of the time of such a cell.
    any_machine : bool, default=False
        Skip, too, what one other machine has measured with this code: all methods of a repeat on a data set.
    dry_run : bool, default=False
        List the cells; run and write nothing, read no data file but those in `datasets`. Data are assumed to be those
        of the stored records.
    on_event : callable, optional
        Called with an :class:`~kernbench.experiments.run.progress.Event` whenever something happens.

    Returns
    -------
    RunSummary

    Raises
    ------
    ValueError
        For unknown names (with the nearest), invalid numbers, more jobs × threads than cores, a results folder that
        cannot be written, or if the system refuses the process of a cell.
    KeyboardInterrupt
        After Ctrl-C: running cells are ended, finished records are kept, and the message says how to continue.
    """
    experiments, datasets = with_own_files(_experiments(names), datasets)
    if scheduler is not None and (repeats == AUTO or when_idle):
        raise ValueError('repeats="auto" and when_idle are for this machine, not for a cluster')
    _refuse_nonsense(
        repeats=None if repeats == AUTO else repeats,
        jobs=jobs,
        threads=threads,
        time_limit=time_limit,
        max_hours=max_hours,
        memory_limit=memory_limit,
    )
    if when_idle and jobs > 1:
        raise ValueError("when_idle and several jobs exclude each other: with one job, no cell runs beside another")
    chosen = {"datasets": datasets, "methods": methods, "only": only, "skip": skip, "optional": optional}
    if earlier is not None:
        chosen["seconds_of"] = Expectations(earlier).of_all
    cells, gaps = plan(experiments, scale, repeats=repeats, **chosen)
    if not cells and not gaps:
        raise ValueError("nothing to run: no experiment chosen has these data sets and methods")
    with_cells = {cell.experiment for cell in cells}
    experiments = [experiment for experiment in experiments if experiment.name in with_cells]
    declared = {experiment.name: threads or experiment.threads for experiment in experiments}
    store = Store(results)
    with _where(scheduler, declared, jobs, force) as place:
        positions = {experiment.name: store.since(experiment.name, None)[1] for experiment in experiments}
        records, notes = _read(store, experiments)
        limits = {}
        for experiment in experiments:
            of_scale = experiment.scale(scale)
            limits[experiment.name] = (time_limit or of_scale.time_limit, memory_limit or of_scale.memory_limit)
        good = [record for record in records if record["status"] == "ok" or not (retry or _may_succeed(record, limits))]
        expectations, auto = Expectations(records), None
        if repeats == AUTO:
            auto = AutoRepeats({e.name: e.scale(scale).repeats for e in experiments})
        of_any_code = {place_of(record): record for record in good}
        if not retry:  # an error may be that of a budget without a time, which `stored` finds out
            budgeted = {cell.place for cell in cells if cell.needs is not None}
            good += [record for record in records if record["status"] == "error" and place_of(record) in budgeted]
        if dry_run:
            _warn(notes, on_event)
            checksum_of = _checksums(place.machines)
            cells, done = wanted_and_stored(
                cells,
                auto,
                lambda some: stored(some, good, place.machines, checksum_of, any_machine=any_machine),
                estimates=of_any_code,
            )
            planned = [PlannedCell(cell, cell.place in done, expectations.of(cell)) for cell in cells]
            return RunSummary(planned, gaps=gaps, dry_run=True)
        for experiment in experiments:
            store.check_writable(experiment.name)
        expected = cells if auto is None else auto.wanted(cells, of_any_code)
        if scheduler is None and not {cell.place for cell in expected} <= set(of_any_code):
            launching.prepare()  # early, since it takes as long as the rest of the preparation
        _warn(notes, on_event)
        options = {"auto": auto, "when_idle": when_idle, "any_machine": any_machine, "known": records}
        current = Run(store, positions, expectations, place, limits, max_hours, on_event, **options)
        try:
            return current.run(cells, gaps, good)
        except KeyboardInterrupt:
            message = (
                f"interrupted after {current.n_done} of {current.n_cells} cells; their records are in {store.folder}, "
                "and the same command again does the rest"
            )
            current.tell("interrupted", message=message)
            raise Interrupted(message, current.summary) from None


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
    from kernbench.experiments.run.cluster.workers import Lost, connected

    with connected(scheduler) as client:
        try:
            yield Cluster(client, declared, force)
        except Lost as lost:  # while it described data or its code, before a cell could go to another one
            raise ValueError(
                f"worker {lost} was lost; finished records are stored: give the same command again"
            ) from None


def _experiments(names):
    names = [names] if isinstance(names, (str, Experiment)) else list(names)
    if not names:
        raise ValueError(f"name at least one experiment: {', '.join(registry.names())}")
    found = [name if isinstance(name, Experiment) else registry.get(name) for name in names]
    return list({experiment.name: experiment for experiment in found}.values())


def _refuse_nonsense(*, time_limit, max_hours, **counts):
    # Not by `validation`, which imports NumPy: the first cell would start later.
    for name, unit, time in (("time_limit", "seconds", time_limit), ("max_hours", "hours", max_hours)):
        if time is not None and not (isinstance(time, Real) and not isinstance(time, bool) and time > 0):
            raise ValueError(f"{name} must be a positive number of {unit}, got {time!r}")
    if time_limit is not None and not isfinite(time_limit):  # a record, being JSON, cannot hold it
        raise ValueError(f"time_limit must be a finite number of seconds, got {time_limit!r}")
    for name, count in counts.items():
        if count is not None and (not isinstance(count, Integral) or isinstance(count, bool) or count < 1):
            raise ValueError(f"{name} must be a positive integer, got {count!r}")


def _read(store, experiments):
    """The stored records of some experiments, and the faults of their files, which may hold records of others."""
    names = [experiment.name for experiment in experiments]
    with skipped_lines() as notes:
        records = [record for name in names for record in store.records(name) if record["experiment"] == name]
    return records, notes


def _warn(notes, on_event):
    """Report faults of the stored records: by events if `on_event` is given, else by warnings."""
    for note in notes:
        if on_event is None:
            warnings.warn(note, stacklevel=3)
        else:
            on_event(Event("note", message=note))


def _may_succeed(record, limits):
    """Whether a failed cell may succeed within its present limits: those of the record do not say that it will not."""
    seconds, memory = limits[record["experiment"]]
    found = record.get("limits", {})
    if record["status"] == "timeout":
        return _is_wider(seconds, found.get("seconds"))
    if record["status"] == "memory":
        return _is_wider(memory, found.get("bytes"))
    return True


def _is_wider(now, before):
    """Whether a limit allows more than one of before, which may be unknown; None is no limit."""
    return before is None or now is None or before < now


def _checksums(machines):
    """Return a function that gives a dry run the checksum of a cell's data: of files, it assumes that of the record."""

    def read(cell):
        return machines[0].data(cell)[0]["checksum"]

    def assumed(cell, record):
        is_generated = record["data"].get("kind") == "generated"
        return checksum_in_key(cell, record, read) if is_generated else record["data"].get("checksum")

    return assumed
