"""The two sides of a comparison: the records of a store, or those of one commit in it."""

from dataclasses import dataclass, field
from pathlib import Path

from kernbench.experiments.run.storing.cleaning import newest_of
from kernbench.experiments.run.storing.store import Store, skipped_lines
from kernbench.report import text
from kernbench.report.records.cells import SETUP, part
from kernbench.report.records.reading import results_of

ENVIRONMENT = (
    *SETUP,
    "platform",
    "python",
    "numpy",
    "scipy",
    "scikit-learn",
    "kernbench",
    "git_commit",
    "git_dirty",
    "code",
)


@dataclass
class Side:
    """One of the two sides.

    Attributes
    ----------
    name : str
        The name that the user gave.
    results : dict of (experiment, scale) to Results
    notes : list of str
        Files that could not be read, and why.
    """

    name: str
    results: dict
    notes: list = field(default_factory=list)

    @property
    def records(self):
        return [record for results in self.results.values() for record in results.records]

    def environment(self):
        """The values that each entry of the environment has among the records, sorted: name -> tuple of str."""
        found = {name: set() for name in ENVIRONMENT}
        for record in self.records:
            for name, values in found.items():
                value = part(record, "environment").get(name)
                values.add(text.DASH if value is None else str(value))
        return {name: tuple(sorted(values)) for name, values in found.items()}


def side_of_store(folder):
    """Return the newest record of every cell of a results folder; a success is never hidden by a later failure.

    Raises
    ------
    ValueError
        If there is no such folder, no record in it, or none of an experiment that is known.
    """
    records, notes = _read(folder)
    return _side(str(folder), records, notes)


def side_of_commit(folder, commit):
    """Return the same of the records that were made by one commit.

    Parameters
    ----------
    folder : str or Path
    commit : str
        The first characters of its hash, four at least.

    Raises
    ------
    ValueError
        If no record, or records of several commits, have it; the message says which commits there are. Or if none of
        its records is of an experiment that is known.
    """
    records, notes = _read(folder)
    commits = [str(part(record, "environment").get("git_commit")) for record in records]
    known = list(dict.fromkeys(commits))
    chosen = [name for name in known if len(commit) >= 4 and name.startswith(commit)]
    if len(chosen) != 1:
        problem = "no record is" if not chosen else f"records of {len(chosen)} commits are"
        listed = ", ".join(name[:12] for name in known)
        raise ValueError(f"{problem} of commit {commit!r} in {str(folder)!r}; it has records of {listed}")
    kept = [record for record, name in zip(records, commits) if name == chosen[0]]
    return _side(chosen[0][:12], kept, notes)


def _read(folder):
    if not Path(folder).is_dir():
        raise ValueError(f"there is no results folder {str(folder)!r}")
    with skipped_lines() as notes:
        records = Store(folder).records()
    if not records:
        raise ValueError(f"there is no record in {str(folder)!r}; make some with: kernbench run")
    return records, notes


def _side(name, records, notes):
    # As the report reads them. Of one commit: a later one with the same code has the same keys.
    found, undeclared = results_of(newest_of(records).values())
    if not found:  # "no change" would be said of nothing
        raise ValueError(f"no record of {name!r} can be compared ({'; '.join(undeclared)})")
    return Side(name, {(r.experiment.name, r.scale): r for r in found}, notes + undeclared)
