"""Records of the repeats of one cell, turned into the numbers a table shows."""

from dataclasses import dataclass, field
from functools import cached_property

from kernbench.report.statistics import finite, finite_values, mean_and_error, median_or_none

# Two times may be divided by each other only when all of these agree.
SETUP = ("processor", "n_cores", "n_threads", "blas", "git_commit")


def part(record, name):
    """The sub-object `name` of a record, or an empty one: a record of an older version may lack it."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def setup_of(record):
    """What a record's times depend on besides the cell itself."""
    environment = part(record, "environment")
    return tuple(str(environment.get(key)) for key in SETUP)


@dataclass
class Cell:
    """One method on one data set: all its repeats.

    Attributes
    ----------
    dataset, method : str
    ok, failed : list of dict
        Records by their status; of a repeat that was run twice, the later one.
    """

    dataset: str
    method: str
    ok: list = field(default_factory=list)
    failed: list = field(default_factory=list)

    @property
    def n_repeats(self):
        return len(self.ok)

    def metric(self, name):
        """The finite values of one metric, over the repeats that ended well."""
        return finite_values(part(record, "metrics").get(name) for record in self.ok)

    def seconds(self, name="fit"):
        """The finite times of one phase, ``"fit"`` or ``"predict"``."""
        return finite_values(part(record, "seconds").get(name) for record in self.ok)

    @cached_property
    def test_error(self):
        """Mean and standard error of the test error."""
        return mean_and_error(self.metric("test_error"))

    @cached_property
    def fit_seconds(self):
        """Median fit time; a median, because times have a long tail upwards."""
        return median_or_none(self.seconds("fit"))

    @cached_property
    def n_kernel_evaluations(self):
        return median_or_none(record.get("n_kernel_evaluations") for record in self.ok)

    @cached_property
    def peak_memory_bytes(self):
        """The largest peak: what a machine must have."""
        return max(finite_values(record.get("peak_memory_bytes") for record in self.ok), default=None)

    def traces(self, x, y="test_error"):
        """The columns `x` and `y` of every repeat's trace, where both exist and match."""
        for record in self.ok:
            trace = part(record, "trace")
            first, second = trace.get(x), trace.get(y)
            if isinstance(first, list) and isinstance(second, list) and first and len(first) == len(second):
                yield [finite(value) for value in first], [finite(value) for value in second]

    def data(self):
        """What is known of the data set: name, kind, sizes, checksum, description."""
        for record in self.ok + self.failed:
            if part(record, "data"):
                return part(record, "data")
        return {}


@dataclass
class Group:
    """All cells of one experiment at one scale."""

    experiment: str
    scale: str
    cells: dict = field(default_factory=dict)

    @property
    def datasets(self):
        """Data sets in the order they were first recorded."""
        return list(dict.fromkeys(dataset for dataset, _ in self.cells))

    def methods(self, dataset=None):
        """Methods in the order they were first recorded."""
        return list(dict.fromkeys(method for data, method in self.cells if dataset in (None, data)))

    def cell(self, dataset, method):
        """The cell, empty when nothing was recorded for it."""
        return self.cells.get((dataset, method)) or Cell(dataset, method)

    @property
    def records(self):
        return [record for cell in self.cells.values() for record in cell.ok + cell.failed]


def speed_ratio(reference, cell):
    """Median over repeats of ``reference seconds / cell seconds``, or None.

    Both times of a ratio come from the same repeat on the same set-up: on a shared machine two runs of the
    same fit differ by more than the methods may.

    Parameters
    ----------
    reference, cell : Cell

    Returns
    -------
    float or None
        Above 1 where `cell` is faster.
    """
    base = {
        (record.get("repeat"), setup_of(record)): part(record, "seconds").get("fit")
        for record in reference.ok
    }
    ratios = []
    for record in cell.ok:
        top = finite(base.get((record.get("repeat"), setup_of(record))))
        bottom = finite(part(record, "seconds").get("fit"))
        if top and bottom and bottom > 0:
            ratios.append(top / bottom)
    return median_or_none(ratios)


def group_records(records):
    """Sort records into groups by experiment and scale.

    Parameters
    ----------
    records : iterable of dict
        In the order they were written: the later record of a cell's repeat replaces the earlier.

    Returns
    -------
    list of Group
        Scale ``"paper"`` before ``"quick"``, then by experiment.
    """
    latest = {}
    for record in records:
        latest[tuple(record[key] for key in ("experiment", "scale", "dataset", "method", "repeat"))] = record
    groups = {}
    for (experiment, scale, dataset, method, _), record in latest.items():
        group = groups.setdefault((experiment, scale), Group(experiment, scale))
        cell = group.cells.setdefault((dataset, method), Cell(dataset, method))
        (cell.ok if record["status"] == "ok" else cell.failed).append(record)
    for group in groups.values():
        for cell in group.cells.values():
            cell.ok.sort(key=lambda record: record["repeat"])
    return sorted(groups.values(), key=lambda group: (group.scale != "paper", group.experiment))
