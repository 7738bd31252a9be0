"""Read a results folder for the report, and remember what could not be read."""

import warnings
from dataclasses import dataclass, field
from pathlib import Path

from kernbench.experiments import registry
from kernbench.experiments.run.store import Store
from kernbench.report import text
from kernbench.report.aggregate import Group, group_records


@dataclass
class Results:
    """What a report is made of.

    Attributes
    ----------
    folder : Path
    groups : list of Group
        One for each experiment and scale that has records.
    notes : list of str
        What was left out and why; printed in the report, never swallowed.
    """

    folder: Path
    groups: list[Group]
    notes: list[str] = field(default_factory=list)

    @property
    def records(self):
        """All records that count."""
        return [record for group in self.groups for record in group.records]


def read_results(folder):
    """Read all records of a results folder.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    Results

    Raises
    ------
    ValueError
        If the folder is absent, cannot be read or holds no record; the message says which command makes some.
    """
    folder = Path(folder)
    if not folder.exists():
        raise ValueError(f"there is no results folder {str(folder)!r}; {_advice(folder)}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        records = list(Store(folder).latest().values())
    notes = list(dict.fromkeys(str(warning.message) for warning in caught))
    groups = []
    for group in group_records(records):
        problem = _undeclared(group)
        if problem:
            notes.append(f"{text.plural(len(group.records), 'record')} left out: {problem}")
        else:
            groups.append(group)
    if not groups:
        torn = f" ({'; '.join(notes)})" if notes else ""
        raise ValueError(f"there are no records in {str(folder)!r}{torn}; {_advice(folder)}")
    return Results(folder, groups, notes)


def _undeclared(group):
    """Why a group cannot be reported: nothing declares its experiment or scale (any more)."""
    try:
        registry.get(group.experiment).scale(group.scale)
    except ValueError as refusal:
        return str(refusal)
    return ""


def _advice(folder):
    elsewhere = "" if str(folder) == "results" else f" --results {folder}"
    return f"make some with: kernbench run --scale quick{elsewhere}"
