"""Records of several commits: how times and counters of the same cells moved from commit to commit."""

from dataclasses import dataclass, field

import numpy as np

from kernbench.report.records.cells import part
from kernbench.report.statistics import finite, median_or_none

MACHINE = ("processor", "n_cores", "n_threads", "blas")


@dataclass
class Version:
    """One commit.

    Attributes
    ----------
    commit : str
        Its hash, with ``+`` for uncommitted changes.
    day : str
        Of its first record.
    n_records : int
    factors : dict of str to list of float
        By experiment: time of each cell over that at the first commit which has it, on the same machine.
    changed, compared : dict of str to int
        By experiment: deterministic counters of the same cell, data and seed that differ from the commit before, and
        how many could be compared.
    """

    commit: str
    day: str
    n_records: int
    factors: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)
    compared: dict = field(default_factory=dict)

    def factor(self, experiment):
        """The geometric mean of the factors, or None."""
        found = self.factors.get(experiment)
        return float(np.exp(np.mean(np.log(found)))) if found else None


def versions(records, experiments):
    """The commits of some records, oldest first.

    Parameters
    ----------
    records : iterable of dict
    experiments : dict of str to Experiment

    Returns
    -------
    list of Version
        Empty if fewer than two commits have times or counters of a common cell.
    """
    by_commit = {}
    for record in records:
        if record["status"] == "ok" and record["experiment"] in experiments:
            commit = _commit(record)
            if commit:
                by_commit.setdefault(commit, []).append(record)
    order = sorted(by_commit, key=lambda commit: min(_started(record) for record in by_commit[commit]))
    made, first, before = [], {}, {}
    for commit in order:
        own = by_commit[commit]
        version = Version(commit, min(map(_started, own))[:10], len(own))
        for cell, seconds in _medians(own).items():
            if cell in first:
                version.factors.setdefault(cell[0], []).append(seconds / first[cell])
            first.setdefault(cell, seconds)
        for place, value in _counters(own, experiments).items():
            if place in before:
                name = place[0]
                version.compared[name] = version.compared.get(name, 0) + 1
                version.changed[name] = version.changed.get(name, 0) + (before[place] != value)
            before[place] = value
        made.append(version)
    return made if any(version.factors or version.compared for version in made) else []


def _commit(record):
    environment = part(record, "environment")
    commit = environment.get("git_commit")
    return f"{str(commit)[:10]}{'+' if environment.get('git_dirty') else ''}" if commit else None


def _started(record):
    return str(record.get("started") or "")


def _cell(record):
    environment = part(record, "environment")
    machine = tuple(str(environment.get(name)) for name in MACHINE)
    return (record["experiment"], record["scale"], record["dataset"], record["method"], machine)


def _medians(records):
    """The median time of a fit of each cell."""
    found = {}
    for record in records:
        seconds = finite(part(record, "seconds").get("fit"))
        if seconds:
            found.setdefault(_cell(record), []).append(seconds)
    return {cell: median_or_none(values) for cell, values in found.items()}


def _counters(records, experiments):
    """The deterministic counters of records, by cell, data, seed and name."""
    found = {}
    for record in records:
        data = part(record, "data").get("checksum")
        for metric in experiments[record["experiment"]].metrics:
            value = metric.of(record) if metric.deterministic else None
            if value is not None:
                found[*_cell(record), data, record["repeat"], record["seed"], metric.name] = value
    return found
