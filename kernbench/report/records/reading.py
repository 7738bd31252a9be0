"""Read a results folder for the report, with notes on what could not be read."""

import shlex
from pathlib import Path

from kernbench.experiments import registry
from kernbench.experiments.run.storing.store import Store, skipped_lines
from kernbench.report import text
from kernbench.report.records.cells import cells_of
from kernbench.report.records.results import Results


def read_results(folder):
    """Read all records of a results folder.

    Returns
    -------
    results : list of Results
        One for each experiment and scale that has records.
    notes : list of str
        Records left out, and the reasons; printed in the report.

    Raises
    ------
    ValueError
        If the folder is absent, cannot be read or holds no record; the message says which command makes some.
    """
    folder = Path(folder)
    if not folder.exists():
        raise ValueError(f"there is no results folder {str(folder)!r}; {_advice(folder)}")
    with skipped_lines() as skipped:
        records = list(Store(folder).latest().values())
    found, undeclared = results_of(records)
    total = f"{text.plural(len(skipped), 'line')} of the files in {folder} were skipped, each named below."
    notes = [*([total] if len(skipped) > 1 else []), *skipped, *undeclared]
    if not found:
        because = f" ({'; '.join(notes)})" if notes else ""
        raise ValueError(f"there are no records in {str(folder)!r}{because}; {_advice(folder)}")
    return found, notes


def results_of(records):
    """Records as a list of Results, and notes on those of experiments and scales that are not declared."""
    found, notes = [], []
    for (name, scale), cells in cells_of(records).items():
        try:
            experiment = registry.get(name)
            experiment.scale(scale)
        except ValueError as unknown:
            n_records = sum(len(cell.records) for cell in cells.values())
            own = "" if name in registry.names() else " An experiment of your own needs --plugin FILE."
            notes.append(f"{text.plural(n_records, 'record')} left out: {unknown}{own}")
        else:
            found.append(Results(experiment, scale, cells))
    return found, notes


def _advice(folder):
    elsewhere = "" if str(folder) == "results" else f" --results {shlex.quote(str(folder))}"
    return f"make some with: kernbench run --scale quick{elsewhere}"
