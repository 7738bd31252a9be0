"""Records of the repeats of one method on one data set."""

from dataclasses import dataclass, field

from kernbench.report.statistics import finite, finite_values, median_or_none

# A fit used more cores than threads if its processor time > SPARE × threads × wall time. Fits below LEAST_SECONDS are
# not judged, since the two clocks are not read at the same moment.
SPARE, LEAST_SECONDS = 1.25, 0.1
# Two times may be divided by each other only when all of these agree, and the code does.
SETUP = ("processor", "n_cores", "n_threads", "jobs", "overcommitted", "blas")


def part(record, name):
    """The sub-object `name` of a record, or an empty one: a record of an older version may lack it."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def column(record, name):
    """A column of a record's trace: finite numbers, None for what is not one; empty if it has no such column."""
    found = part(record, "trace").get(name)
    return [finite(value) for value in found] if isinstance(found, list) else []


def outside_trace(record, whole):
    """Seconds of `whole` that the solver's own clock leaves out: mostly set-up before its trace; 0 if not known."""
    solver = finite(part(record, "seconds").get("solver"))
    return 0.0 if None in (whole, solver) else max(0.0, whole - solver)


def machine_of(record):
    """What a record's times, and the last bits of its numbers, depend on besides the cell itself and the code."""
    environment = part(record, "environment")
    found = tuple(str(environment.get(key)) for key in SETUP)
    # Virtual machines name several processors alike, without a number: "AMD EPYC". Their systems tell hosts apart.
    is_named = any(character.isdigit() for character in found[0])
    return found if is_named else (*found, str(environment.get("platform")))


def setup_of(record):
    """The same with the code."""
    environment = part(record, "environment")
    code = environment.get("code") or environment.get("git_commit")  # older records have the commit alone
    return (*machine_of(record), str(code))


def run_of(record):
    """What the times of two records must have in common: the repeat, and what they depend on."""
    return record["repeat"], setup_of(record)


def on_other_data(record, other):
    """Whether two records are of different data under one name, such as a file before and after a change."""
    own, others = part(record, "data"), part(other, "data")
    checksums = own.get("checksum"), others.get("checksum")
    return own.get("name") == others.get("name") and None not in checksums and checksums[0] != checksums[1]


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
    def records(self):
        return self.ok + self.failed

    @property
    def statuses(self):
        """How the failed repeats ended, each way once."""
        return list(dict.fromkeys(str(record["status"]) for record in self.failed))

    def values(self, metric):
        """The finite values of a metric over the successful repeats."""
        return finite_values(metric.of(record) for record in self.ok)

    def by_repeat(self, metric):
        """The finite values of a metric over the successful repeats, by repeat."""
        values = ((record["repeat"], finite(metric.of(record))) for record in self.ok)
        return {repeat: value for repeat, value in values if value is not None}

    def by_run(self, metric):
        """The same by what :func:`run_of` says of a record."""
        values = ((run_of(record), finite(metric.of(record))) for record in self.ok)
        return {run: value for run, value in values if value is not None}

    def median(self, metric):
        """Their median, or None."""
        return median_or_none(self.values(metric))

    def exceeds_threads(self, wall, processor):
        """Whether more processor time was used than its threads have, by two clocks of a record where it has them."""
        for record in self.ok:
            seconds = part(record, "seconds")
            passed, busy = (finite(seconds.get(clock)) for clock in (wall, processor))
            n_threads = finite(part(record, "environment").get("n_threads"))
            if None not in (passed, busy, n_threads) and passed > LEAST_SECONDS and busy > SPARE * n_threads * passed:
                return True
        return False

    def data(self):
        """What is known of the data set: name, kind, sizes, checksum, description."""
        return next((part(record, "data") for record in self.records if part(record, "data")), {})


def paired(cell, baseline):
    """Pairs of records of the same repeat on the same set-up and data: times of different ones cannot be compared."""
    base = {run_of(record): record for record in baseline.ok}
    keyed = ((run_of(record), record) for record in cell.ok)
    return [(record, base[key]) for key, record in keyed if key in base and not on_other_data(record, base[key])]


def paired_values(metric, cell, baseline):
    """The finite values of a metric in :func:`paired` records: a list of (own, baseline's)."""
    pairs = ([finite(metric.of(record)) for record in pair] for pair in paired(cell, baseline))
    return [tuple(pair) for pair in pairs if None not in pair]


def speed(metric, cell, baseline):
    """Median over repeats of the baseline's value over the cell's, above 1 where the cell is faster; or None."""
    pairs = paired_values(metric, cell, baseline)
    return median_or_none(base / own for own, base in pairs if own > 0 and base > 0)


def relative_excess(metric, cell, baseline):
    """Median of how far the cell's value is above the baseline's, relative to it, over the repeats of both; or None.

    Each repeat may have drawn its data anew: values of different repeats are those of different problems.
    """
    own = cell.by_repeat(metric)
    pairs = ((own[repeat], base) for repeat, base in baseline.by_repeat(metric).items() if repeat in own)
    return median_or_none((value - base) / abs(base) for value, base in pairs if base)


def cells_of(records):
    """Sort records into cells by experiment and scale.

    Parameters
    ----------
    records : iterable of dict
        Of the records of a cell's repeat the one counts that was begun last, whichever file or place it comes from:
        merged folders have their records in any order.

    Returns
    -------
    dict of (experiment, scale) to dict of (dataset, method) to Cell
        Scale ``"paper"`` before ``"quick"``, then by experiment.
    """
    latest = {}
    for record in sorted(records, key=lambda record: str(record.get("started") or "")):
        latest[tuple(record[key] for key in ("experiment", "scale", "dataset", "method", "repeat"))] = record
    found = {}
    for (experiment, scale, dataset, method, _), record in latest.items():
        cells = found.setdefault((experiment, scale), {})
        cell = cells.setdefault((dataset, method), Cell(dataset, method))
        (cell.ok if record["status"] == "ok" else cell.failed).append(record)
    for cells in found.values():
        for cell in cells.values():
            cell.ok.sort(key=lambda record: record["repeat"])
    return dict(sorted(found.items(), key=lambda item: (item[0][1] != "paper", item[0][0])))
