"""The events of a run, and its summary."""

from dataclasses import dataclass, field
from statistics import median

from kernbench.experiments.run.cells import Cell


@dataclass(frozen=True)
class Event:
    """An event of a run; handed to ``on_event``.

    Attributes
    ----------
    kind : str
        In this order: ``"note"`` (`message` describes a fault of the stored records), ``"gap"`` (a method
        that cannot run here; `message` says why), ``"planned"`` (once), then for each cell ``"skipped"``
        (stored already, or measured by another run meanwhile) or ``"started"`` and ``"finished"`` (with its
        record, whatever its status) or ``"dropped"`` (a repeat too many for what the cell takes); last, perhaps,
        ``"interrupted"``. ``"loading"`` (a data set is read for its checksum; `message` names it) comes before a cell
        that needs it is skipped or started. With ``when_idle`` a ``"note"`` also says when a pause begins and ends.
    done, total : int
        Cells skipped or finished so far, and cells in all.
    cell : Cell or None
    record : dict or None
        Record of the finished or skipped cell.
    remaining : float or None
        Estimated remaining seconds; None if no similar cells have been run before.
    message : str
    """

    kind: str
    done: int = 0
    total: int = 0
    cell: Cell | None = None
    record: dict | None = None
    remaining: float | None = None
    message: str = ""


@dataclass(frozen=True)
class PlannedCell:
    """A cell of the plan.

    Attributes
    ----------
    cell : Cell
    stored : bool
        Whether a record of this measurement exists that counts, as a success does: it is not run again.
    expected_seconds : float or None
        From earlier records; None when there are none.
    """

    cell: Cell
    stored: bool
    expected_seconds: float | None


@dataclass
class RunSummary:
    """The outcome of a run, or the plan of a dry run.

    Attributes
    ----------
    planned : list of PlannedCell
        All cells in their order.
    records : list of dict
        Records of the cells finished by this run.
    gaps : list of Gap
        Methods that cannot run here.
    seconds : float
        Duration of the run.
    n_left : int
        Cells that were not started, since the time was up.
    n_shared : int
        Cells that another run on the same results folder has measured meanwhile.
    paused_seconds : float
        Spent in waiting for other programs, with ``when_idle``.
    dry_run : bool
    """

    planned: list
    records: list = field(default_factory=list)
    gaps: list = field(default_factory=list)
    seconds: float = 0.0
    n_left: int = 0
    n_shared: int = 0
    paused_seconds: float = 0.0
    dry_run: bool = False

    @property
    def n_skipped(self):
        """Cells that were stored already."""
        return sum(planned.stored for planned in self.planned)

    @property
    def failed(self):
        """The records whose status is not ``"ok"``."""
        return [record for record in self.records if record["status"] != "ok"]

    @property
    def expected_seconds(self):
        """Estimated seconds of the cells that are not stored, run one at a time; None when unknown."""
        return total_expected([planned.expected_seconds for planned in self.planned if not planned.stored])


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run, with the summary of what it did until then.

    Parameters
    ----------
    message : str
    summary : RunSummary
    """

    def __init__(self, message, summary):
        super().__init__(message)
        self.summary = summary


class Expectations:
    """Expected times of cells: the median time of earlier cells of their kind.

    Parameters
    ----------
    records : iterable of dict
        Records of any version and machine, since a rough estimate is enough.
    """

    def __init__(self, records=()):
        self._seconds, self._limits = {}, {}
        for record in records:
            self.learn(record)

    def learn(self, record):
        """Take a finished record into account, if it is a success or ran out of time."""
        kind = tuple(record[name] for name in ("experiment", "scale", "dataset", "method"))
        total, limit = record["seconds"].get("total"), record.get("limits", {}).get("seconds")
        if record["status"] == "ok" and total is not None:
            self._seconds.setdefault(kind, []).append(total)
        elif record["status"] == "timeout" and limit is not None:
            self._limits[kind] = max(limit, self._limits.get(kind, 0.0))

    def of(self, cell):
        """Seconds, or None when no cell of this kind has succeeded."""
        seen = self._seconds.get(_kind_of(cell))
        return median(seen) if seen else None

    def of_all(self, cells, unknown=60.0):
        """Seconds of `cells`, one after the other: of one that only ran out of time its limit, else `unknown`."""
        expected = [(self.of(cell), self._limits.get(_kind_of(cell), unknown)) for cell in cells]
        return sum(otherwise if seconds is None else seconds for seconds, otherwise in expected)


def _kind_of(cell):
    return cell.experiment, cell.scale, cell.dataset, cell.method


def total_expected(seconds):
    """Add up expected times; one that is None counts as the average of the others. None when all are None."""
    known = [value for value in seconds if value is not None]
    if not seconds:
        return 0.0
    return sum(known) / len(known) * len(seconds) if known else None
