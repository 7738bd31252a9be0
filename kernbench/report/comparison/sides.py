"""The two sides of a comparison: the records of a store, or those of one commit in it."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kernbench.experiments.run.storing.cleaning import newest_of, start_of
from kernbench.experiments.run.storing.store import Store, skipped_lines
from kernbench.report import text
from kernbench.report.records.cells import SETUP, machine_of, part
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
        Of a repeat that several machines have measured, the record begun last.
    notes : list of str
        Files that could not be read, and why.
    measured : list of dict
        The newest record of each measurement, those of every machine.
    """

    name: str
    results: dict
    notes: list = field(default_factory=list)
    measured: list = field(default_factory=list)

    @property
    def records(self):
        return [record for results in self.results.values() for record in results.records]

    def beside(self, other):
        """This side for a comparison: of a repeat that several machines have measured, by one that both sides have.

        Of several it is the one with most repeats of the cell on both sides, the same for either side: only times of
        one can be compared. Where they have none in common, the record begun last counts.
        """
        own, others = ({(_cell_of(r), r["repeat"], machine_of(r)) for r in side.measured} for side in (self, other))
        n_own, n_others = (Counter((cell, machine) for cell, _, machine in found) for found in (own, others))
        chosen, most = {}, {}
        for record in sorted(self.measured, key=start_of):
            cell, machine = _cell_of(record), machine_of(record)
            common = min(n_own[cell, machine], n_others[cell, machine])
            repeat, rank = (cell, record["repeat"]), (common, machine if common else ())
            if repeat not in most or rank >= most[repeat]:
                chosen[repeat], most[repeat] = machine, rank
        kept = [r for r in self.measured if machine_of(r) == chosen[_cell_of(r), r["repeat"]]]
        return self if len(kept) == len(self.measured) else _side(self.name, kept, self.notes)

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
    newest = list(newest_of(records).values())
    found, undeclared = results_of(newest)
    if not found:  # "no change" would be said of nothing
        raise ValueError(f"no record of {name!r} can be compared ({'; '.join(undeclared)})")
    results = {(r.experiment.name, r.scale): r for r in found}
    return Side(name, results, list(dict.fromkeys([*notes, *undeclared])), newest)


def _cell_of(record):
    return tuple(record[key] for key in ("experiment", "scale", "dataset", "method"))
