"""Where cells run: this machine, or a worker of a cluster, with its environment and the data found there."""

from functools import cached_property

from kernbench._lazy import load
from kernbench.experiments import plugins, registry
from kernbench.experiments.run import environment
from kernbench.experiments.run.cells import cell_key
from kernbench.experiments.run.code import experiment_digest, names_in
from kernbench.experiments.run.schedule import Scheduler


class Machine:
    """A machine that runs cells, as records describe it.

    Parameters
    ----------
    found : dict
        As `environment.collect` gives it, and ``"peers"``, as `environment.peers` does.
    threads : dict of str to int
        Threads of a cell, by experiment.
    describe : callable
        ``describe(cell) -> (data, problem)``: the ``data`` of the cell's record and, for data that cannot be loaded
        there, the reason.
    jobs : int, default=1
        Cells at a time.
    digest : callable, optional
        ``digest(names) -> str``: that of the experiments' code there, as `code.experiment_digest`.
    """

    def __init__(self, found, threads, describe, jobs=1, digest=experiment_digest):
        self._peers = found.get("peers", {})
        found = {name: value for name, value in found.items() if name != "peers"}
        self._environments = {
            name: {**found, **_timed_with(found["n_cores"], jobs, count)} for name, count in threads.items()
        }
        self._describe, self._described = describe, {}
        self._digest, self._digests = digest, {}

    def environment(self, cell):
        """The environment of the cell's record.

        With a digest of its experiment's code, the version of the library that it measures, and its plug-in.
        """
        plugin, peer, names = plugins.of(cell), self._peers.get(_required(cell)), names_in(cell)
        if names not in self._digests:
            self._digests[names] = self._digest(names)
        found = {**self._environments[cell.experiment], "experiment_code": self._digests[names]}
        found |= {} if peer is None else {"peer": peer}
        return found if plugin is None else {**found, "plugin": str(plugin)}

    def key(self, cell, checksum):
        """The identity of the cell's measurement on this machine, from data with this checksum."""
        return cell_key(cell, checksum, self.environment(cell))

    def is_described(self, cell):
        """Whether the cell's data have been read already."""
        return source_of(cell) in self._described

    def data(self, cell, problem=None):
        """Describe the cell's data, read once for the checksum that is part of the key.

        Parameters
        ----------
        cell : Cell
        problem : str, optional
            Why the cell cannot be run: its data are not read.

        Returns
        -------
        data : dict
        problem : str or None
        """
        where = source_of(cell)
        if problem is not None:
            known, _ = self._described.get(where, ({"name": cell.dataset, "checksum": None}, None))
            return known, problem
        if where not in self._described:
            self._described[where] = self._describe(cell)
        return self._described[where]


def _required(cell):
    """The module that the cell's method requires, or None."""
    for experiment in registry.EXPERIMENTS:
        for method in experiment.methods:
            if (experiment.name, method.name) == (cell.experiment, cell.method):
                return method.requires
    return None


def source_of(cell):
    """Return what identifies the data of a cell: cells with equal values share them."""
    return cell.loader, str(cell.arguments)


def description(cell):
    """The ``data`` of the cell's record and, for data that cannot be loaded, the reason."""
    try:
        from kernbench.experiments.measure.record import describe

        return describe(load(cell.loader)(**cell.arguments)), None
    except Exception as error:  # a missing data set is a result of its cells, not the end of the run
        return {"name": cell.dataset, "checksum": None}, f"{type(error).__name__}: {error}"


class ThisMachine:
    """The machine this process runs on, as what runs cells.

    Parameters
    ----------
    declared : dict of str to (int or None)
        Threads of a cell, by experiment; None for the cores divided by `jobs`.
    jobs : int
        Cells at a time.
    force : bool
        Run with more threads than cores.

    Raises
    ------
    ValueError
        For more threads than cores.
    """

    def __init__(self, declared, jobs, force):
        cores = environment.n_cores()
        self.jobs = jobs
        self._threads = {name: threads_of(jobs, count, cores, force) for name, count in declared.items()}

    @cached_property
    def machines(self):
        """One machine."""
        found = {**environment.collect(), "peers": environment.peers()}
        return [Machine(found, self._threads, description, self.jobs)]

    def prepare(self, cells, make_task):
        """Read what no cell may be timed beside: with several jobs, all data sets."""
        if self.jobs > 1:
            for cell in cells:
                make_task(cell, self.machines[0])

    def run(self, cells, outcomes, *, make_task, tell, **callbacks):
        """Run all cells; see :class:`~kernbench.experiments.run.schedule.Scheduler`."""
        (machine,) = self.machines
        Scheduler(cells, outcomes, jobs=self.jobs, make_task=lambda cell: make_task(cell, machine), **callbacks).run()


def threads_of(jobs, threads, cores, force):
    """Threads per cell; ValueError for more threads in total than cores, since times would be meaningless."""
    if threads is None:
        threads = max(1, cores // jobs)
    if jobs * threads > cores and not force:
        raise ValueError(
            f"{jobs} jobs × {threads} threads need more than the {cores} cores here, and times would "
            f"mean nothing; use at most {max(1, cores // threads)} jobs of {min(threads, cores)} threads, or --force"
        )
    return threads


def _timed_with(cores, jobs, threads):
    """What a run adds to the environment of its records."""
    found = {"n_threads": threads}
    if jobs > 1:
        found["jobs"] = jobs
    if jobs * threads > cores:
        found["overcommitted"] = f"{jobs} jobs × {threads} threads on {cores} cores"
    return found
